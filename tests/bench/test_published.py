"""The paper's rows are whole, and add up."""

import pytest

from cuda_agent.bench.published import load_published


def test_levels_add_up_to_all() -> None:
    published = load_published()
    assert (len(published.rows), published.date) == (24, "February 2026")
    assert "claimed" in published.note
    for policy in {row.policy for row in published.rows}:
        whole, *levels = (row for row in published.rows if row.policy == policy)
        assert sum(row.tasks for row in levels) == whole.tasks == 250
        for name in ("passed_percent", "faster_eager_percent", "faster_compile_percent"):
            total = sum(getattr(row, name) * row.tasks for row in levels) / 250
            assert total == pytest.approx(getattr(whole, name), abs=0.051)


def test_its_own_row() -> None:
    row = load_published().rows[0]
    assert (row.policy, row.faster_compile_percent, row.speedup_compile) == ("CUDA Agent", 96.8, 2.11)
