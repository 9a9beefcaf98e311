import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role
from cuda_agent.llm.local import Sampled
from cuda_agent.rl.config import ScratchConfig
from cuda_agent.rl.conversations import Conversations
from cuda_agent.rl.decoder import Decoder
from cuda_agent.rl.policy import build_actor
from cuda_agent.rl.tokenizer import build_template, train_tokenizer

SCRATCH = ScratchConfig(layers=2, hidden=32, heads=2, intermediate=64, window_tokens=1024)
TOKENIZER: Any = train_tokenizer(["a text"], 300)
MODEL = build_actor(SCRATCH, len(TOKENIZER), seed=0, end_id=TOKENIZER.eos_token_id)


def build(*, slots: int = 3, reply_tokens: int = 12, **options: Any) -> tuple[Conversations, Decoder]:  # noqa: ANN401
    decoder = Decoder(
        MODEL, end_ids=(TOKENIZER.eos_token_id,), slots=slots, window_tokens=SCRATCH.window_tokens
    )
    talks = Conversations(
        decoder, build_template(TOKENIZER), name="tiny", slots=slots, reply_tokens=reply_tokens, **options
    )
    return talks, decoder


def ask(text: str) -> tuple[Message, ...]:
    return (Message(role=Role.USER, content=text),)


def talk(talks: Conversations, seed: int) -> list[Reply]:
    """Three turns of one conversation."""
    messages, replies = ask(f"task {seed}"), []
    with talks.open(seed) as chat:
        for turn in range(3):
            replies.append(chat.reply(messages, ()))
            messages = (*messages, replies[-1].message, Message(role=Role.USER, content=f"go on {turn}"))
    return replies


def read_ids(replies: list[Reply]) -> list[tuple[int, ...]]:
    return [reply.completion_ids or () for reply in replies]


def test_many_at_once_say_what_each_says_alone() -> None:
    alone = [talk(build(slots=1)[0], seed) for seed in range(4)]
    talks, decoder = build(slots=3)
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda seed: talk(talks, seed), range(4)))
    assert list(map(read_ids, together)) == list(map(read_ids, alone))
    whole = sum(len(replies[-1].prompt_ids or ()) for replies in alone)
    said = sum(len(ids) for replies in alone for ids in read_ids(replies)[:-1])
    # What was sampled is not read again, but for the last token of each reply.
    assert decoder.tokens_read == whole - said + 2 * len(alone)


def test_each_prompt_goes_on_from_the_tokens_before_it() -> None:
    replies = talk(build()[0], 3)
    for old, new in itertools.pairwise(replies):
        before = (*(old.prompt_ids or ()), *(old.completion_ids or ()))
        assert (new.prompt_ids or ())[: len(before)] == before


def test_a_reply_cut_at_its_cap_says_so() -> None:
    (reply, *_) = talk(build(reply_tokens=1)[0], 1)
    assert reply.usage.completion_tokens == 1
    assert reply.finish_reason is FinishReason.LENGTH


def test_a_conversation_that_does_not_fit_is_the_users_fault() -> None:
    talks, _ = build()
    with talks.open(0) as chat, pytest.raises(UserError, match="holds 1024 tokens"):
        chat.reply(ask("x " * 2000), ())


def test_whoever_leaves_while_a_reply_is_under_way_stops_nobody() -> None:
    talks, decoder = build(slots=2, reply_tokens=300)
    begun, go_on = threading.Event(), threading.Event()
    step = decoder.step

    def slow_step() -> dict[int, Sampled]:
        begun.set()
        go_on.wait(10)
        return step()

    decoder.step = slow_step  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as pool:
        with talks.open(1) as chat:
            left = pool.submit(chat.reply, ask("long"), ())
            assert begun.wait(10)
        other = pool.submit(talk, build(slots=1)[0], 7)
        go_on.set()
        with pytest.raises(InfrastructureError, match="was left"):
            left.result(30)
        assert len(other.result(30)) == 3
    with talks.open(2) as chat:
        assert chat.reply(ask("short"), ()).completion_ids


def test_a_step_that_fails_is_raised_and_the_next_one_may_do() -> None:
    talks, decoder = build()
    step = decoder.step

    def fail() -> dict[int, Sampled]:
        raise InfrastructureError("no memory")

    decoder.step = fail  # type: ignore[method-assign]
    with talks.open(4) as chat:
        with pytest.raises(InfrastructureError, match="no memory"):
            chat.reply(ask("task 4"), ())
        decoder.step = step  # type: ignore[method-assign]
        assert chat.reply(ask("task 4"), ()).completion_ids == read_ids(talk(build()[0], 4))[0]


def test_whoever_computes_holds_what_is_asked_for_and_gives_it_back() -> None:
    held: list[str] = []

    @contextmanager
    def hold() -> Iterator[None]:
        held.append("in")
        yield
        held.append("out")

    talk(build(while_stepping=hold)[0], 1)
    assert held == ["in", "out"] * 3
