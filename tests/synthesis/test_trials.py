"""Each filter that runs a candidate drops its case, and keeps another."""

import pytest

from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.trials import (
    compare_candidate,
    compile_candidate,
    examine_candidate,
    time_candidate,
    time_compiled,
)
from tests.synthesis.conftest import GOOD, make_candidate


def make_fate(code: str) -> Fate:
    return Fate(candidate=make_candidate(code))


@pytest.mark.parametrize(
    ("old", "new", "dropped_by"),
    [
        ("torch.tanh(x)", "torch.tahn(x)", Filter.EAGER),
        ("torch.tanh(x)", "x + torch.rand(1)", Filter.STOCHASTIC),
        ("torch.tanh(x)", "x + __import__('time').perf_counter_ns() % 1009", Filter.DETERMINISTIC),
        ("torch.tanh(x)", "x * 0", Filter.GATE),
        ("torch.tanh(x)", "torch.abs(torch.relu(x))", Filter.REDUNDANT),
    ],
)
def test_dropped(probe: Probe, old: str, new: str, dropped_by: Filter) -> None:
    fate = examine_candidate(make_fate(GOOD.replace(old, new)), probe, recipe=Recipe())
    assert fate.dropped_by is dropped_by, fate.reason
    assert fate.reason


def test_memory_is_limited(probe: Probe) -> None:
    fate = examine_candidate(make_fate(GOOD), probe, recipe=Recipe(memory_gb=1e-6))
    assert fate.dropped_by is Filter.EAGER


def test_kept_and_timed(probe: Probe) -> None:
    fate = examine_candidate(make_fate(GOOD), probe, recipe=Recipe())
    assert fate.is_kept
    assert fate.measured.device
    assert (
        time_candidate(fate, probe, recipe=Recipe(shortest_ms=1e4, longest_ms=1e5)).dropped_by
        is Filter.WINDOW
    )
    timed = time_candidate(fate, probe, recipe=Recipe(shortest_ms=1e-6, longest_ms=1e4))
    assert timed.is_kept
    assert timed.measured.eager_ms > 0.0


@pytest.mark.slow
def test_compiled(probe: Probe) -> None:
    fate = examine_candidate(make_fate(GOOD), probe, recipe=Recipe())
    compiled = time_compiled(compare_candidate(compile_candidate(fate, probe), probe), probe)
    assert compiled.is_kept, compiled.reason
    assert compiled.measured.compile_ms > 0.0


@pytest.mark.slow
def test_what_torch_compile_computes_otherwise_is_dropped(probe: Probe) -> None:
    code = GOOD.replace("torch.tanh(x)", "x + 1 if torch.compiler.is_compiling() else x")
    fate = compile_candidate(examine_candidate(make_fate(code), probe, recipe=Recipe()), probe)
    fate = compare_candidate(fate, probe)
    assert (fate.dropped_by, fate.reason) == (
        Filter.COMPILE,
        "torch.compile differs in 100.00% of the elements",
    )
