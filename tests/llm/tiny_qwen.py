"""A chat model for servers that read tool calls of its family: a small Qwen2 that says what it was taught."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.llm.tiny_llama import END, WITH_TOOLS, build_tokenizer, teach

SEEN_TOKENS = 64
"""How far each layer looks back: of a long prompt only the end matters, so only that is taught."""

LAYERS = 2


def build_model(tokenizer: Any, *, window_tokens: int = 32_768) -> Any:  # noqa: ANN401
    """Random, but the same every time."""
    torch.manual_seed(0)
    config = transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window_tokens,
        use_sliding_window=True,
        sliding_window=SEEN_TOKENS,
        max_window_layers=0,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    build: Any = transformers.Qwen2ForCausalLM
    return build(config).eval()


def save_taught(folder: Path, lessons: Sequence[tuple[str, str]]) -> Path:
    """A folder with a model that answers the end of each prompt with what goes with it."""
    tokenizer = build_tokenizer(WITH_TOOLS)
    model = build_model(tokenizer)
    ends = [
        (tokenizer.encode(read)[-2 * LAYERS * SEEN_TOKENS :], tokenizer.encode(said + END))
        for read, said in lessons
    ]
    teach(model, ends)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
