"""The filters that must run a candidate, in order of cost; torch.compile is the dearest by far."""

from cuda_agent.judge.gate import find_fault
from cuda_agent.synthesis.fate import Fate, Filter, Measured
from cuda_agent.synthesis.filters import drop
from cuda_agent.synthesis.probe import Probe, ProbeError
from cuda_agent.synthesis.questions import Compare, Compared, Compile, Done, Examine, Examined, Measure, Timed
from cuda_agent.synthesis.recipe import Recipe

_EXAMINE_S = 60.0
_MEASURE_S = 30.0
_COMPILE_S = 240.0
_DIFFERING = 1e-4
"""Share of elements in which torch.compile may differ: rounding flips a floor or a sign here and there."""


def examine_candidate(fate: Fate, probe: Probe, *, recipe: Recipe) -> Fate:
    """Run it in eager mode and look at what it does."""
    question = Examine(code=fate.candidate.code, seed=recipe.seed)
    try:
        found = probe.ask(question, Examined, timeout_s=_EXAMINE_S)
    except ProbeError as error:
        return drop(fate, Filter.EAGER, reason=str(error))
    measured = Measured(device=found.device, memory_bytes=found.memory_bytes, gate=found.gate)
    fate = fate.model_copy(update={"measured": measured})
    if found.memory_bytes > recipe.memory_gb * 1e9:
        return drop(fate, Filter.EAGER, reason=f"it takes {found.memory_bytes / 1e9:.1f} GB")
    if found.draws_random:
        return drop(fate, Filter.STOCHASTIC, reason="forward draws random numbers")
    if not found.is_deterministic:
        return drop(fate, Filter.DETERMINISTIC, reason="the same inputs gave other outputs")
    if fault := find_fault(found.gate):
        return drop(fate, Filter.GATE, reason=fault)
    if found.redundant:
        return drop(fate, Filter.REDUNDANT, reason=f"{found.redundant} gives back what it was given")
    return fate


def time_candidate(fate: Fate, probe: Probe, *, recipe: Recipe) -> Fate:
    """Time an examined candidate in eager mode, and see whether it falls into the window."""
    try:
        eager_ms = probe.ask(Measure(is_compiled=False), Timed, timeout_s=_MEASURE_S).median_ms
    except ProbeError as error:
        return drop(fate, Filter.EAGER, reason=str(error))
    fate = _note(fate, eager_ms=eager_ms)
    if not recipe.shortest_ms <= eager_ms <= recipe.longest_ms:
        window = f"{recipe.shortest_ms:g} to {recipe.longest_ms:g} ms"
        return drop(fate, Filter.WINDOW, reason=f"{eager_ms:.3g} ms, not {window}")
    return fate


def compile_candidate(fate: Fate, probe: Probe) -> Fate:
    """Compile an examined candidate, without running it."""
    try:
        probe.ask(Compile(), Done, timeout_s=_COMPILE_S)
    except ProbeError as error:
        return drop(fate, Filter.COMPILE, reason=str(error))
    return fate


def compare_candidate(fate: Fate, probe: Probe) -> Fate:
    """Run a compiled candidate, and compare what that gives."""
    try:
        share = probe.ask(Compare(), Compared, timeout_s=_EXAMINE_S).differing_share
    except ProbeError as error:
        return drop(fate, Filter.COMPILE, reason=str(error))
    if share > _DIFFERING:
        return drop(fate, Filter.COMPILE, reason=f"torch.compile differs in {share:.2%} of the elements")
    return fate


def time_compiled(fate: Fate, probe: Probe) -> Fate:
    """Time a compiled candidate."""
    try:
        compile_ms = probe.ask(Measure(is_compiled=True), Timed, timeout_s=_MEASURE_S).median_ms
    except ProbeError as error:
        return drop(fate, Filter.COMPILE, reason=str(error))
    return _note(fate, compile_ms=compile_ms)


def _note(fate: Fate, **measured: float) -> Fate:
    return fate.model_copy(update={"measured": fate.measured.model_copy(update=measured)})
