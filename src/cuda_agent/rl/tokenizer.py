"""A tokenizer for a small model, fitted to the episodes that it will read and write.

Byte-level pairs (Sennrich et al. 2016) over whole stretches of text, line ends included: episodes repeat
whole lines, and each becomes a token or two. Digits stand alone, but for those of type names, so that
numbers are spelt the same way everywhere.
"""

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.llm.chat import Role
from cuda_agent.llm.chat_template import ChatTemplate
from cuda_agent.llm.text_form import render_reply
from cuda_agent.rl.batch import TokenSequence

END = "<|end|>"
"""Ends every message; the padding too."""

SPECIAL = (END, "<|tools|>", *(f"<|{role.value}|>" for role in Role))
"""Tokens of the chat template."""

STRETCH = r"(?:\D|(?<=int|float|F|I)(?:8|16|32|64)(?!\d))+|\d"
"""What pairs are merged within."""

LONGEST = 64
"""Characters of the longest token."""


def train_tokenizer(texts: Iterable[str], vocabulary: int = 2048) -> PreTrainedTokenizerFast:
    """Fit a tokenizer of so many tokens at most to `texts`; the same texts give the same tokenizer.

    Raises:
        ValueError: the vocabulary has no room for the 256 bytes and the template's tokens.
    """
    least = 256 + len(SPECIAL)
    if vocabulary < least:
        raise ValueError(f"a vocabulary of {vocabulary} is too small: bytes and roles alone are {least}")
    pairs = tokenizers.Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(STRETCH), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    pairs.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        max_token_length=LONGEST,
        show_progress=False,
    )
    pairs.train_from_iterator(texts, trainer)
    fast: Any = PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = fast(
        tokenizer_object=pairs, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )
    template = resources.files("cuda_agent.rl").joinpath("chat_template.jinja")
    tokenizer.chat_template = template.read_text(encoding="utf-8").removesuffix("\n")
    return tokenizer


def list_texts(trajectory: Trajectory) -> Iterator[str]:
    """Everything that is read and written in an episode, as a tokenizer meets it."""
    for message in trajectory.prompt:
        yield message.content
    for turn in trajectory.turns:
        yield render_reply(turn.reply.message)
        for observation in turn.observations:
            yield observation.content


def build_template(tokenizer: PreTrainedTokenizerFast) -> ChatTemplate:
    """The chat template of a tokenizer that names one end of a turn.

    Raises:
        UserError: it cannot chat.
    """
    assert isinstance(tokenizer.eos_token_id, int)
    return ChatTemplate(tokenizer, end_ids=(tokenizer.eos_token_id,), wants_native=True)


def encode_episode(trajectory: Trajectory, template: ChatTemplate, *, end_id: int) -> TokenSequence:
    """The tokens of an episode that somebody else held, such as the expert; for supervised stages alone.

    Generated are its replies, each with the end of its turn. Nothing was sampled from a distribution, so
    all log-probabilities are 0.
    """
    messages, ids, is_generated = trajectory.prompt, list[int](), list[bool]()
    for turn in trajectory.turns:
        prompt = template.encode(messages, trajectory.tools)
        assert list(prompt[: len(ids)]) == ids, "a prompt lost what was said"
        reply = (*template.encode_reply(turn.reply.message), end_id)
        is_generated += [False] * (len(prompt) - len(ids)) + [True] * len(reply)
        ids = [*prompt, *reply]
        messages = (*messages, turn.reply.message, *turn.observations)
    return TokenSequence(tuple(ids), tuple(is_generated), (0.0,) * len(ids), trajectory.reward)
