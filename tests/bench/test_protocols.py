"""The same solution under two policies is one line, and counts as apart only where the conclusions differ."""

from cuda_agent.bench.protocols import pair_opinions
from cuda_agent.bench.record import RecordStatus
from cuda_agent.bench.tables import render_pairings
from tests.bench.conftest import BuildRecord


def test_where_two_policies_part(build: BuildRecord) -> None:
    # 1.055 times as fast beats eager at the point, not at the lower end of its interval.
    records = [
        *(
            build(f"{name}-0", 2.0, solution=name, judge=judge)
            for name in "ab"
            for judge in ("strict", "paper")
        ),
        *(build("c-0", 1.055, solution="c", judge=judge) for judge in ("strict", "paper")),
        build("d-0", solution="d", verdict="verify:mismatch", reason="wrong | by 0.1"),
        build("d-0", 3.0, solution="d", judge="paper", verdict="ok"),
        build("e-0", 3.0, solution="e"),
        build("f-0", status=RecordStatus.MISSING),
        build("f-0", status=RecordStatus.MISSING, judge="paper"),
    ]
    found = pair_opinions(records, "strict", second="paper")
    assert [(pairing.solution, pairing.agrees) for pairing in found] == [
        ("a", True),
        ("b", True),
        ("c", False),
        ("d", False),
    ]
    assert (found[2].first.beats_eager, found[2].second.beats_eager) == (False, True)
    text = render_pairings(found, "strict", second="paper")
    assert text.startswith("strict against paper on the same 4 solutions: 2 differ\n")
    assert (
        "| d-0 | d | verify:mismatch | ok, beats eager and compile | - | 3.00x | wrong \\| by 0.1 |" in text
    )
    assert "| a-0" not in text


def test_numbers_of_tries_are_told_apart(build: BuildRecord) -> None:
    records = [
        build("a-0", 1.0, solution=f"s{number}", number=number, judge=judge)
        for judge in ("strict", "paper")
        for number in range(3)
    ]
    assert [pairing.solution for pairing in pair_opinions(records, "strict", second="paper")] == [
        "s0",
        "s1",
        "s2",
    ]
