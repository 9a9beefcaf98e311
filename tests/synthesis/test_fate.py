"""A fate is kept or dropped."""

from cuda_agent.synthesis.fate import Fate, Filter
from tests.synthesis.conftest import make_candidate


def test_kept_or_dropped() -> None:
    assert Fate(candidate=make_candidate()).is_kept
    fate = Fate(candidate=make_candidate(), dropped_by=Filter.GATE, reason="an output is zero")
    assert not fate.is_kept
    assert Fate.model_validate_json(fate.model_dump_json()) == fate
