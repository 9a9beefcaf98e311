"""Rows and splits."""

import collections

from cuda_agent.synthesis.fate import Fate, Filter, Measured
from cuda_agent.synthesis.output import build_rows, choose_split
from cuda_agent.synthesis.similarity import Nearest
from tests.synthesis.conftest import make_candidate


def test_a_combination_is_in_one_split_in_any_order() -> None:
    assert choose_split(("a", "b")) == choose_split(("b", "a"))
    counts = collections.Counter(choose_split((f"op{i}", "other")) for i in range(2000))
    assert 1700 < counts["train"] < 1900
    assert 60 < counts["validation"] < 140
    assert 60 < counts["heldout"] < 140


def test_only_kept_candidates_become_rows() -> None:
    kept = Fate(
        candidate=make_candidate(number=3),
        nearest=Nearest(name="level1/1_x.py", similarity=0.5),
        measured=Measured(device="a cpu", memory_bytes=9, eager_ms=2.5, compile_ms=1.5),
    )
    (row,) = build_rows([kept, Fate(candidate=make_candidate(number=4), dropped_by=Filter.GATE)])
    assert (row.id, row.number, row.eager_ms, row.compile_ms) == (kept.candidate.key, 3, 2.5, 1.5)
    assert (row.family, row.precision) == (kept.candidate.family, "float32")
    assert (row.nearest_kernelbench, row.kernelbench_similarity) == ("level1/1_x.py", 0.5)
