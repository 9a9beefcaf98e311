"""Whoever comes is served, together with all who wait."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuda_agent.llm.batcher import Batcher


class Doubler:
    """Doubles numbers, and remembers its batches; waits in the first one until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def work(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        self.begun.set()
        assert self.go_on.wait(60.0)
        if 13 in numbers:
            raise ValueError("13")
        return [2 * number for number in numbers]


def ask_all(batcher: Batcher[int, int], doubler: Doubler, *, numbers: list[int]) -> list[int | BaseException]:
    """Ask for the first number, and for the others while it is worked on."""
    with ThreadPoolExecutor(len(numbers)) as pool:
        first = pool.submit(batcher.ask, numbers[0])
        assert doubler.begun.wait(60.0)
        rest = [pool.submit(batcher.ask, number) for number in numbers[1:]]
        while len(batcher._waiting) < len(rest):
            threading.Event().wait(0.01)
        doubler.go_on.set()
        return [each.exception() or each.result() for each in (first, *rest)]


def test_who_waits_is_served_together_and_gets_its_own_answer() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, limit=4)
    assert ask_all(batcher, doubler, numbers=list(range(8))) == [0, 2, 4, 6, 8, 10, 12, 14]
    assert [len(batch) for batch in doubler.batches] == [1, 4, 3]
    assert sorted(number for batch in doubler.batches for number in batch) == list(range(8))


def test_a_single_caller_does_not_wait() -> None:
    doubler = Doubler()
    doubler.go_on.set()
    assert Batcher(doubler.work, limit=4).ask(21) == 42


def test_a_failure_reaches_its_batch_alone() -> None:
    doubler = Doubler()
    batcher: Batcher[int, int] = Batcher(doubler.work, limit=8)
    answers = ask_all(batcher, doubler, numbers=[1, 13, 2])
    assert answers[0] == 2
    assert all(isinstance(answer, ValueError) for answer in answers[1:])
    assert batcher.ask(3) == 6


def test_an_answer_too_few_is_an_error() -> None:
    def work(numbers: Sequence[int]) -> list[int]:
        return []

    with pytest.raises(ValueError, match="shorter"):
        Batcher(work, limit=2).ask(1)
