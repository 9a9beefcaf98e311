"""Bounded output keeps head and tail, whatever the chunks."""

import random

import pytest

from cuda_agent.sandbox.capture import BoundedOutput


def test_short_output_is_kept_whole() -> None:
    output = BoundedOutput(10)
    output.add(b"01234")
    output.add(b"56789")
    assert output.read_text() == "0123456789"


@pytest.mark.parametrize("seed", range(5))
def test_the_middle_is_cut_and_counted(seed: int) -> None:
    generator = random.Random(seed)
    text = bytes(generator.choices(b"abcdefgh", k=1000))
    output = BoundedOutput(101)
    start = 0
    while start < len(text):
        end = start + generator.randint(1, 200)
        output.add(text[start:end])
        start = end
    assert output.read_text() == f"{text[:50].decode()}\n[... 899 bytes cut ...]\n{text[-51:].decode()}"


def test_undecodable_bytes_are_replaced() -> None:
    output = BoundedOutput(10)
    output.add(b"a\xffb")
    assert output.read_text() == "a\ufffdb"
