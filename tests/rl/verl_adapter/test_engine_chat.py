"""Replies from an engine's event loop: tokens as they are, failures as the machine's."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from cuda_agent.errors import ConfigError, InfrastructureError, UserError
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role
from cuda_agent.llm.chat_template import ChatTemplate
from cuda_agent.rl.verl_adapter.engine_chat import EngineChat, Generated, Vocabulary
from tests.rl.verl_adapter.tiny import build_byte_tokenizer

transformers = pytest.importorskip("transformers")
END = 0
ASKED = (Message(role=Role.USER, content="go"),)


def ask(answer: Callable[[tuple[int, ...], int], Awaitable[Generated]], *, window_tokens: int = 100) -> Reply:
    """One reply, asked for in a thread while the loop answers."""
    template = ChatTemplate(build_byte_tokenizer(), end_ids={END}, wants_native=True)
    vocabulary = Vocabulary(template=template, end_ids=frozenset({END}), window_tokens=window_tokens)

    async def hold() -> Reply:
        chat = EngineChat(answer, vocabulary, loop=asyncio.get_running_loop())
        return await asyncio.to_thread(chat.reply, ASKED, ())

    return asyncio.run(hold())


def test_tokens_are_kept_as_sampled() -> None:
    asked = []

    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        asked.append((prompt_ids, room))
        ids = (*build_byte_tokenizer().encode("yes", add_special_tokens=False), END)
        return Generated(ids, (-0.5,) * len(ids))

    reply = ask(answer)
    assert reply.message.content == "yes"
    assert reply.finish_reason is FinishReason.STOP
    assert reply.completion_ids is not None
    assert reply.completion_ids[-1] == END
    assert reply.completion_logprobs == (-0.5, -0.5, -0.5, -0.5)
    assert asked == [(reply.prompt_ids, 100 - len(reply.prompt_ids or ()))]


def test_a_reply_without_an_end_was_cut() -> None:
    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        return Generated((70,), (-1.0,))

    assert ask(answer).finish_reason is FinishReason.LENGTH


def test_a_failing_engine_is_the_machines_fault() -> None:
    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        raise ConnectionError("gone")

    with pytest.raises(InfrastructureError, match="the engine failed: ConnectionError: gone"):
        ask(answer)


def test_no_token_is_the_machines_fault() -> None:
    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        return Generated((), ())

    with pytest.raises(InfrastructureError, match="sampled no token"):
        ask(answer)


@pytest.mark.parametrize("logprobs", [None, (-1.0, -1.0)])
def test_tokens_need_their_logprobs(logprobs: tuple[float, ...] | None) -> None:
    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        return Generated((70,), logprobs)

    with pytest.raises(ConfigError, match="calculate_log_probs=True"):
        ask(answer)


def test_a_full_window_is_told() -> None:
    async def answer(prompt_ids: tuple[int, ...], room: int) -> Generated:
        raise AssertionError("never asked")

    with pytest.raises(UserError, match="the window is full"):
        ask(answer, window_tokens=3)
