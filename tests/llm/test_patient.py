"""A model whose machine fails is asked again, but not for ever."""

import time

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema
from cuda_agent.llm.patient import LONGEST_PAUSE_S, BusyError, PatientChat

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


def find_pauses_s(monkeypatch: pytest.MonkeyPatch, error: Exception, *, first_pause_s: float) -> list[float]:
    """The pauses between 12 tries, asked of the clock's keeper instead of waited for."""
    pauses_s: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses_s.append)
    PatientChat(FailingChat(12, error), retries=12, first_pause_s=first_pause_s).reply((), ())
    return pauses_s


def test_pauses_double_by_chance_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses_s = find_pauses_s(monkeypatch, InfrastructureError("no route"), first_pause_s=1.0)
    for tried, pause_s in enumerate(pauses_s):
        assert min(2.0**tried, LONGEST_PAUSE_S) <= pause_s <= min(1.5 * 2.0**tried, LONGEST_PAUSE_S)
    again_s = find_pauses_s(monkeypatch, InfrastructureError("no route"), first_pause_s=1.0)
    assert pauses_s[:6] != again_s[:6]


def test_a_wish_to_be_left_alone_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses_s = find_pauses_s(monkeypatch, BusyError("busy", retry_after_s=20.0), first_pause_s=1.0)
    assert all(20.0 <= pause_s <= 20.5 for pause_s in pauses_s[:4])
    assert pauses_s[-1] == LONGEST_PAUSE_S


def test_who_wants_to_be_left_alone_for_long_is() -> None:
    chat = FailingChat(1, BusyError("come back tomorrow", retry_after_s=86_400.0))
    with pytest.raises(BusyError, match="tomorrow"):
        PatientChat(chat, retries=3).reply((), ())
    assert chat.asked == 1
