"""A policy's failure is told as its own."""

import pytest

from cuda_agent.agent.capture import CapturedChat, PolicyError
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema

REPLY = Reply(message=Message(role=Role.ASSISTANT, content="yes"))


class OneChat:
    """Answers, or raises."""

    name = "one"

    def __init__(self, error: BaseException | None) -> None:
        self.error = error

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        if self.error is not None:
            raise self.error
        return REPLY


def test_an_answer_passes() -> None:
    captured = CapturedChat(OneChat(None))
    assert captured.name == "one"
    assert captured.reply((), ()) == REPLY


def test_a_failure_says_what_it_was() -> None:
    with pytest.raises(PolicyError, match="KeyError: 'x'"):
        CapturedChat(OneChat(KeyError("x"))).reply((), ())


def test_an_interruption_is_no_failure_of_the_policy() -> None:
    with pytest.raises(KeyboardInterrupt):
        CapturedChat(OneChat(KeyboardInterrupt())).reply((), ())
