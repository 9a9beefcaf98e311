"""From a recipe to kept tasks: composed in order, filtered by text, tried by workers, recorded one by one."""

import collections
import hashlib
import itertools
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.compose import compose
from cuda_agent.synthesis.fate import Fate
from cuda_agent.synthesis.filters import TextFilters
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.quiet import Turns
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Print
from cuda_agent.synthesis.trials import compile_candidate, examine_candidate, time_candidate, time_compiled
from cuda_agent.tasks.target import Target

FATES = "fates.jsonl"
"""One line for each candidate, in order."""

_AHEAD = 3
"""Candidates that are composed ahead, for each worker."""
_POOREST = 50
"""Candidates for each task that is asked for, after which it is given up."""


class Synthesis(Config):
    """All that a synthesis run's outcome depends on, but for how many tasks it goes on to."""

    recipe: Recipe
    """What is made."""
    kernelbench: str = ""
    """Folder of KernelBench tasks that nothing may be too like; empty when none was named."""
    operators_digest: str
    """Digest of the operators that were found in the installed libraries."""


def build_job(recipe: Recipe, operators: Sequence[Operator], *, kernelbench: Path | None) -> Synthesis:
    """The configuration of a run with these operators."""
    digest = hashlib.sha256("\n".join(operator.model_dump_json() for operator in operators).encode())
    return Synthesis(
        recipe=recipe,
        kernelbench=str(kernelbench or ""),
        operators_digest=digest.hexdigest()[:16],
    )


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What a synthesis run works with."""

    job: Synthesis
    """What is made."""
    operators: tuple[Operator, ...]
    """What it is made of."""
    kernelbench: dict[str, Print]
    """What it may not be too like."""
    sandbox: Sandbox
    """Where candidates run."""
    workers: int = 1
    """How many candidates are tried at once."""


def run_synthesis(
    shop: Workshop, run: RunDir, *, count: int, observe: Callable[[Fate], None]
) -> tuple[Fate, ...]:
    """Make candidates until so many are kept; the fates of all that the run holds then, in order.

    Raises:
        UserError: far too few candidates are kept.
    """
    fates: list[Fate] = []
    kept = 0
    recorded = {fate.candidate.number: fate for fate in run.read(FATES, Fate)}
    with ExitStack() as stack:
        for fate in _iterate_fates(shop, recorded, stack=stack):
            if fate.candidate.number not in recorded:
                run.append(FATES, fate)
                observe(fate)
            fates.append(fate)
            kept += fate.is_kept
            if kept >= count:
                return tuple(fates)
            if len(fates) >= _POOREST * count:
                raise UserError(f"only {kept} of {len(fates)} candidates were kept; {_name_worst(fates)}")
    raise AssertionError("candidates never end")


def _iterate_fates(shop: Workshop, recorded: dict[int, Fate], *, stack: ExitStack) -> Iterator[Fate]:
    """Every candidate's fate in order, tried ahead by the workers."""
    filters = TextFilters(kernelbench=shop.kernelbench, similarity=shop.job.recipe.similarity)
    pool = stack.enter_context(ThreadPoolExecutor(shop.workers))
    trial = _Trial(shop, stack)
    stack.callback(pool.shutdown, wait=False, cancel_futures=True)
    pending: collections.deque[Future[Fate]] = collections.deque()
    for number in itertools.count():
        future: Future[Fate] = Future()
        if number in recorded:
            filters.check(recorded[number].candidate)
            future.set_result(recorded[number])
        else:
            start_s = time.monotonic()
            fate = filters.check(compose(shop.operators, shop.job.recipe, number=number))
            fate = fate.model_copy(update={"seconds": time.monotonic() - start_s})
            if fate.is_kept:
                future = pool.submit(trial.run, fate)
            else:
                future.set_result(fate)
        pending.append(future)
        while pending and (pending[0].done() or len(pending) > _AHEAD * shop.workers):
            yield pending.popleft().result()


class _Trial:
    """Tries candidates on whichever probe is free."""

    def __init__(self, shop: Workshop, stack: ExitStack) -> None:
        self._recipe = shop.job.recipe
        self._turns = Turns()
        self._probes: queue.SimpleQueue[Probe] = queue.SimpleQueue()
        for _ in range(shop.workers):
            probe = Probe(sandbox=shop.sandbox, target=shop.job.recipe.target)
            self._probes.put(stack.enter_context(probe))

    def run(self, fate: Fate) -> Fate:
        """The candidate's whole fate."""
        start_s = time.monotonic()
        probe = self._probes.get()
        try:
            tried = self._try(fate, probe)
        finally:
            self._probes.put(probe)
        return tried.model_copy(update={"seconds": fate.seconds + time.monotonic() - start_s})

    def _try(self, fate: Fate, probe: Probe) -> Fate:
        with self._turns.work():
            fate = examine_candidate(fate, probe, recipe=self._recipe)
        if fate.is_kept:
            with self._turns.quiet():
                fate = time_candidate(fate, probe, recipe=self._recipe)
        if fate.is_kept:
            # A GPU does not notice compilers on the host; on cpu they are what disturbs.
            with self._turns.work() if self._recipe.target is Target.CPU else nullcontext():
                fate = compile_candidate(fate, probe)
        if fate.is_kept:
            with self._turns.quiet():
                fate = time_compiled(fate, probe)
        return fate


def _name_worst(fates: list[Fate]) -> str:
    counts = collections.Counter(fate.dropped_by for fate in fates if not fate.is_kept)
    (worst, number), *_ = counts.most_common(1)
    last = next(fate.reason for fate in reversed(fates) if fate.dropped_by is worst)
    return f"{number} fell to the filter {worst} ({last}): mend the recipe"
