"""A chat model made on the spot: a small Llama with random weights, and a tokenizer with chat templates."""

import json
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers

END = "<|im_end|>"

CHATML = (
    "{%- for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>{{ '\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The plainest template: no tools."""

WITH_TOOLS = (
    "{%- if tools %}<|im_start|>system\nTools:{% for tool in tools %} {{ tool | tojson }}{% endfor %}\n"
    'Call one by <tool_call>{"name": ..., "arguments": ...}</tool_call>.<|im_end|>\n{% endif %}'
    "{%- for message in messages %}"
    "{%- if message.role == 'tool' %}"
    "{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}<|im_start|>user{% endif %}"
    "{{ '\n' }}<tool_response>\n{{ message.content }}\n</tool_response>"
    "{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}<|im_end|>{{ '\n' }}{% endif %}"
    "{%- elif message.role == 'assistant' %}"
    # Old thinking is dropped, as templates of reasoning models do.
    "<|im_start|>assistant\n{{ message.content.split('</think>')[-1] if not loop.last else message.content }}"
    "{%- for call in message.tool_calls or [] %}"
    "{{ '\n' }}"
    '<tool_call>\n{"name": "{{ call.function.name }}", '
    '"arguments": {{ call.function.arguments | tojson }}}\n</tool_call>'
    "{%- endfor %}<|im_end|>{{ '\n' }}"
    "{%- else %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>{{ '\n' }}{% endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template with tool calls in the form that most models learn, which drops old thinking."""

CORPUS = ["the kernel reads each row once and writes each row once, the kernel the row"] * 4


def build_tokenizer(template: str | None = WITH_TOOLS) -> Any:  # noqa: ANN401
    """Byte-level pairs with a few merges, so that a text has more than one tokenisation."""
    pairs = tokenizers.Tokenizer(tokenizers.models.BPE())
    pairs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|im_start|>", END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pairs.train_from_iterator(CORPUS, trainer)
    build: Any = transformers.PreTrainedTokenizerFast
    fast = build(tokenizer_object=pairs, eos_token=END, pad_token=END)
    fast.chat_template = template
    return fast


def build_model(tokenizer: Any, *, window_tokens: int = 4096) -> Any:  # noqa: ANN401
    """Two layers, random but the same every time."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window_tokens,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    build: Any = transformers.LlamaForCausalLM
    model = build(config)
    # Wishes that a checkpoint may come with, and that must not bend the log-probabilities.
    model.generation_config.do_sample = True
    model.generation_config.temperature = 0.1
    model.generation_config.repetition_penalty = 1.5
    return model.eval()


def teach(model: torch.nn.Module, lessons: list[tuple[list[int], list[int]]], *, steps: int = 120) -> None:
    """Fit the model to say the second of each pair after the first, until it does."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(steps):
        for read, said in lessons:
            ids = torch.tensor([[*read, *said]])
            labels = torch.tensor([[-100] * len(read) + said])
            loss = model(input_ids=ids, labels=labels).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    model.eval()


def save(
    folder: Path,
    *,
    template: str | None = WITH_TOOLS,
    model: torch.nn.Module | None = None,
    window_tokens: int = 4096,
) -> Path:
    """A folder as checkpoints come in."""
    tokenizer = build_tokenizer(template)
    tokenizer.save_pretrained(folder)
    saved: Any = model or build_model(tokenizer, window_tokens=window_tokens)
    saved.save_pretrained(folder)
    return folder


def write_call(name: str, arguments: dict[str, object]) -> str:
    """A call as the template with tools writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
