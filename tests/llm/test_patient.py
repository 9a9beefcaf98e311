"""A model whose machine fails is asked again, but not for ever."""

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema
from cuda_agent.llm.patient import PatientChat

REPLY = Reply(message=Message(role=Role.ASSISTANT, content="at last"))


class FailingChat:
    """Fails a number of times, then answers."""

    name = "failing"

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures = failures
        self.error = error
        self.asked = 0

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        self.asked += 1
        if self.asked <= self.failures:
            raise self.error
        return REPLY


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_it_answers_within_its_retries(failures: int) -> None:
    chat = FailingChat(failures, InfrastructureError("no route"))
    patient = PatientChat(chat, retries=2, first_pause_s=0.0)
    assert patient.name == "failing"
    assert patient.reply((), ()) == REPLY
    assert chat.asked == failures + 1


def test_after_the_last_retry_the_failure_is_told() -> None:
    chat = FailingChat(3, InfrastructureError("no route"))
    with pytest.raises(InfrastructureError, match="no route"):
        PatientChat(chat, retries=2, first_pause_s=0.0).reply((), ())
    assert chat.asked == 3


def test_a_fault_of_the_model_itself_is_not_tried_again() -> None:
    chat = FailingChat(1, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        PatientChat(chat, retries=2, first_pause_s=0.0).reply((), ())
    assert chat.asked == 1
