"""A data set checked again from its file alone: duplicates, labels, likeness, and what running it shows."""

from collections.abc import Callable, Sequence

from cuda_agent.config import Record
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.filters import TextFilters
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Print
from cuda_agent.synthesis.trials import examine_candidate
from cuda_agent.tasks.dataset import Row


class Fault(Record):
    """One row that should not be there."""

    id: str
    """The row's id, or its number where the file has none."""
    found_by: Filter
    """Which filter would have dropped it."""
    reason: str
    """Its reason."""


class AuditResult(Record):
    """What an audit found."""

    rows: int
    """How many rows were looked at."""
    copies: int
    """Rows whose program is byte for byte that of an earlier row; they are among the duplicates."""
    compared_with: int
    """KernelBench tasks that every row was compared with."""
    is_run: bool
    """Whether the programs were run, too."""
    faults: tuple[Fault, ...]
    """The rows at fault, each with its first fault."""


def run_audit(
    rows: Sequence[Row],
    *,
    recipe: Recipe,
    kernelbench: dict[str, Print],
    probe: Probe | None,
    observe: Callable[[int], None],
) -> AuditResult:
    """Check every row; its program runs only where a probe is given, in eager mode and in the sandbox.

    Args:
        rows: the data set.
        recipe: limits of similarity and memory.
        kernelbench: what the rows may not be too like.
        probe: where programs run.
        observe: told how many rows are done.
    """
    filters = TextFilters(kernelbench=kernelbench, similarity=recipe.similarity)
    faults = []
    for number, row in enumerate(rows):
        fate = filters.check(build_candidate(row, number))
        if fate.is_kept and probe is not None:
            probe.begin()
            fate = examine_candidate(fate, probe, recipe=recipe)
        faults += _list_faults(fate, row)
        observe(number + 1)
    return AuditResult(
        rows=len(rows),
        copies=len(rows) - len({row.code for row in rows}),
        compared_with=len(kernelbench),
        is_run=probe is not None,
        faults=tuple(faults),
    )


def build_candidate(row: Row, number: int) -> Candidate:
    """A row as a candidate, so that the same filters read it."""
    return Candidate(
        number=number,
        seed=row.seed,
        ops=row.ops,
        data_source=row.data_source,
        code=row.code,
        family=row.family,
    )


def _list_faults(fate: Fate, row: Row) -> list[Fault]:
    if fate.dropped_by is None:
        return []
    return [Fault(id=row.id, found_by=fate.dropped_by, reason=fate.reason)]
