"""A candidate is known by its program."""

from tests.synthesis.conftest import GOOD, make_candidate


def test_the_key_follows_the_program_alone() -> None:
    assert make_candidate(number=1).key == make_candidate(number=2).key
    assert make_candidate(GOOD + "\n").key != make_candidate().key
    assert len(make_candidate("\ud800").key) == 16
