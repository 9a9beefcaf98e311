"""A language model of some ten thousand parameters and a tokenizer of bytes, as folders of transformers'."""

from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ["<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 65536,
    "pad_token_id": 1,
    "eos_token_id": 0,
    "bos_token_id": None,
    "tie_word_embeddings": False,
}


def write_tiny_policy(folder: Path) -> Path:
    """Write one with random weights that are the same every time; gives its folder."""
    import torch
    import transformers

    llama: Any = transformers
    place = folder / "policy"
    tokenizer = build_byte_tokenizer()
    torch.manual_seed(0)
    config = llama.LlamaConfig(vocab_size=len(tokenizer), **SIZES)
    llama.LlamaForCausalLM(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def write_tiny_critic(folder: Path) -> Path:
    """Write a token classifier of one label beside the policy; gives its folder."""
    import torch
    import transformers

    llama: Any = transformers
    place = folder / "critic"
    tokenizer = build_byte_tokenizer()
    torch.manual_seed(1)
    config = llama.LlamaConfig(vocab_size=len(tokenizer), num_labels=1, classifier_dropout=0.0, **SIZES)
    llama.LlamaForTokenClassification(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def build_byte_tokenizer() -> Any:  # noqa: ANN401 - one of transformers' classes
    """One token for each byte, and the special ones."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    fast: Any = transformers.PreTrainedTokenizerFast
    return fast(
        tokenizer_object=tokenizer,
        eos_token=SPECIAL[0],
        pad_token=SPECIAL[1],
        chat_template=CHAT_TEMPLATE,
    )
