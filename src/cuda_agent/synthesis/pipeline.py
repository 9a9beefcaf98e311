"""From a recipe to kept tasks: composed in order, filtered by text, tried by workers, recorded."""

import collections
import functools
import hashlib
import itertools
import math
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.judge.lease import Lease, name_device
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.crew import Crew
from cuda_agent.synthesis.fate import Fate
from cuda_agent.synthesis.filters import TextFilters
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.quiet import Turns
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Print
from cuda_agent.synthesis.trials import (
    compare_candidate,
    compile_candidate,
    examine_candidate,
    time_candidate,
    time_compiled,
)
from cuda_agent.tasks.target import Target

FATES = "fates.jsonl"
"""One line for each candidate, in the order in which they ended."""

_AHEAD = 2
"""Candidates that are on their way at once, for each worker."""
_AT_ONCE_ON_A_GPU = 3
"""Candidates that are run at once on a GPU: their tensors take gigabytes; compilers may be many more."""
_CROWDED = "OutOfMemoryError"
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
    composer: str = ""
    """The language model that writes the programs; empty when they are composed without one."""


def build_job(
    recipe: Recipe, operators: Sequence[Operator], *, kernelbench: Path | None, composer: str = ""
) -> Synthesis:
    """The configuration of a run with these operators, and with that language model if one is named."""
    digest = hashlib.sha256("\n".join(operator.model_dump_json() for operator in operators).encode())
    return Synthesis(
        recipe=recipe,
        kernelbench=str(kernelbench or ""),
        operators_digest=digest.hexdigest()[:16],
        composer=composer,
    )


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What a synthesis run works with."""

    job: Synthesis
    """What is made."""
    compose: Callable[[int], Fate]
    """Gives each candidate by its number, or the reason why there is none."""
    kernelbench: dict[str, Print]
    """What it may not be too like."""
    sandbox: Sandbox
    """Where candidates run."""
    workers: int = 1
    """How many candidates are tried at once."""


def run_synthesis(
    shop: Workshop,
    run: RunDir,
    *,
    count: int,
    observe: Callable[[Fate], None],
    limit_s: float = math.inf,
) -> tuple[Fate, ...]:
    """Make candidates until so many are kept; the fates of all that the run holds then, in order.

    Fates are recorded as they end, in whatever order; what counts is the order of the candidates, so
    the first `count` that are kept are the same however they were tried.

    Args:
        shop: what to work with.
        run: where fates are recorded; those that it holds are not tried again.
        count: how many to keep.
        observe: told each new fate.
        limit_s: seconds after which no more is waited for; the run can be gone on with.

    Raises:
        UserError: far too few candidates are kept.
        InfrastructureError: candidates cannot be run here.
    """
    ends_s = time.monotonic() + limit_s
    recorded = {fate.candidate.number: fate for fate in run.read(FATES, Fate)}
    tally = _Tally(count)
    with ExitStack() as stack:
        for fate in _iterate_fates(shop, recorded, stack=stack, ends_s=ends_s):
            if fate.candidate.number not in recorded:
                run.append(FATES, fate)
                observe(fate)
            tally.add(fate)
            if tally.kept == count:
                return tuple(tally.in_order)
            if len(tally.in_order) >= _POOREST * count:
                raise UserError(tally.explain_poverty())
    return tuple(fate for _, fate in sorted((recorded | tally.ended).items()))


class _Tally:
    """Fates put in order as they come, up to the one that is the last to be kept."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.ended: dict[int, Fate] = {}
        self.in_order: list[Fate] = []
        self.kept = 0

    def add(self, fate: Fate) -> None:
        self.ended[fate.candidate.number] = fate
        while self.kept < self._count and len(self.in_order) in self.ended:
            self.in_order.append(self.ended[len(self.in_order)])
            self.kept += self.in_order[-1].is_kept

    def explain_poverty(self) -> str:
        total, cause = len(self.in_order), _name_worst(self.in_order)
        return f"only {self.kept} of {total} candidates were kept; {cause}"


def _iterate_fates(
    shop: Workshop, recorded: dict[int, Fate], *, stack: ExitStack, ends_s: float
) -> Iterator[Fate]:
    """Every candidate's fate as it ends, tried ahead by the workers, until the time is over."""
    filters = TextFilters(kernelbench=shop.kernelbench, similarity=shop.job.recipe.similarity)
    crew = Crew(shop.workers)
    trial = _Trial(shop, stack)
    stack.callback(crew.close)
    pending: set[Future[Fate]] = set()
    for number in itertools.count():
        if number in recorded:
            filters.remember(recorded[number])
            yield recorded[number]
            continue
        start_s = time.monotonic()
        fate = shop.compose(number)
        fate = filters.check(fate.candidate) if fate.is_kept else fate
        fate = fate.model_copy(update={"seconds": time.monotonic() - start_s})
        if fate.is_kept:
            pending.add(crew.submit(functools.partial(trial.run, fate)))
        else:
            yield fate
        while len(pending) >= _AHEAD * shop.workers or any(future.done() for future in pending):
            left_s = ends_s - time.monotonic()
            timeout_s = None if math.isinf(left_s) else max(left_s, 0.0)
            done, pending = wait(pending, timeout=timeout_s, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
            if not done:
                break
        if time.monotonic() >= ends_s:
            return


class _Trial:
    """Tries candidates on whichever probe is free."""

    def __init__(self, shop: Workshop, stack: ExitStack) -> None:
        self._recipe = shop.job.recipe
        self._is_cpu = self._recipe.target is Target.CPU
        at_once = shop.workers if self._is_cpu else min(shop.workers, _AT_ONCE_ON_A_GPU)
        self._turns = Turns(Lease(name_device(self._recipe.target)), at_once=at_once)
        self._probes: queue.SimpleQueue[Probe] = queue.SimpleQueue()
        for _ in range(shop.workers):
            probe = Probe(sandbox=shop.sandbox, target=self._recipe.target, compiles=True)
            self._probes.put(stack.enter_context(probe))

    def run(self, fate: Fate) -> Fate:
        """The candidate's whole fate."""
        start_s = time.monotonic()
        probe = self._probes.get()
        try:
            probe.begin()
            tried = self._try(fate, probe)
        finally:
            self._probes.put(probe)
        return tried.model_copy(update={"seconds": fate.seconds + time.monotonic() - start_s})

    def _try(self, fate: Fate, probe: Probe) -> Fate:
        fate = self._share(fate, lambda fate: examine_candidate(fate, probe, recipe=self._recipe))
        if fate.is_kept:
            with self._turns.quiet():
                fate = time_candidate(fate, probe, recipe=self._recipe)
        if fate.is_kept:
            # A GPU does not notice compilers on the host; on cpu they are what disturbs.
            with self._turns.work() if self._is_cpu else nullcontext():
                fate = compile_candidate(fate, probe)
        if fate.is_kept:
            fate = self._share(fate, lambda fate: compare_candidate(fate, probe))
        if fate.is_kept:
            with self._turns.quiet():
                fate = time_compiled(fate, probe)
        return fate

    def _share(self, fate: Fate, step: Callable[[Fate], Fate]) -> Fate:
        """Take a step while others work too; once more alone where there was no memory for all."""
        with self._turns.work():
            done = step(fate)
        if done.reason.startswith(_CROWDED):
            with self._turns.quiet():
                done = step(fate)
        return done


def _name_worst(fates: list[Fate]) -> str:
    counts = collections.Counter(fate.dropped_by for fate in fates if not fate.is_kept)
    (worst, number), *_ = counts.most_common(1)
    last = next(fate.reason for fate in reversed(fates) if fate.dropped_by is worst)
    return f"{number} fell to the filter {worst} ({last}): mend the recipe"
