"""Solutions made elsewhere, judged on a pool under one judge policy or several: resumable, none left out."""

from collections.abc import Iterator
from pathlib import Path

from cuda_agent.bench.record import BenchRecord, RecordStatus, build_record
from cuda_agent.bench.solutions import FoundSolutions, Solution, SolutionList
from cuda_agent.bench.suite import Suite, SuiteTask
from cuda_agent.config import Config
from cuda_agent.environment.batch import RESULTS, BatchConfig, BatchResult, evaluate_pairs
from cuda_agent.errors import UserError
from cuda_agent.rundir import RunDir, read_records
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target
from cuda_agent.workers.pool import Pool

SOLUTIONS = "solutions.json"
"""Where a run's folder keeps which solutions there were."""


class JudgedConfig(Config):
    """What judging solutions depends on."""

    suite: Suite
    """The tasks that they are for."""
    solutions: str
    """The folder that they were found in, made printable."""
    target: Target
    """Where kernels run."""
    judges: tuple[str, ...]
    """Judge policies, each of which judges every solution."""
    containment: Containment = Containment.AUTO
    """How untrusted commands are contained."""

    @property
    def policy(self) -> str:
        """Whose solutions they are said to be: the folder's name."""
        return self.solutions.rstrip("/").rpartition("/")[2]


def judge_solutions(
    found: FoundSolutions, config: JudgedConfig, *, pool: Pool, run: RunDir
) -> Iterator[BatchResult]:
    """Judge what the run does not hold yet; results come, and are kept, as they end.

    Raises:
        InfrastructureError: the disk refused results to the end.
    """
    for judge in config.judges:
        batch = BatchConfig(
            pairs=Path(config.solutions),
            target=config.target,
            policy=judge,
            containment=config.containment,
        )
        pairs = [pair.model_copy(update={"pair_id": name_try(judge, pair.pair_id)}) for pair in found.pairs]
        yield from evaluate_pairs(pairs, batch, pool=pool, run=run)


def name_try(judge: str, solution: str) -> str:
    """What a solution is called among the results of all judge policies."""
    return f"{judge}:{solution}"


def list_results(folder: Path) -> dict[str, BatchResult]:
    """The newest result of each try in a run's folder, by its name."""
    return {result.pair_id: result for result in read_records(folder / RESULTS, BatchResult)}


def load_judged(folder: Path, config: JudgedConfig) -> tuple[BenchRecord, ...]:
    """A record for each solution under each policy, and for each task that has no solution.

    Raises:
        UserError: nothing says which solutions there were.
    """
    listed = _read_solutions(folder)
    results = list_results(folder)
    records: list[BenchRecord] = []
    for judge in config.judges:
        for each in config.suite.tasks:
            tries = [found for found in listed.solutions if found.task_id == each.task.task_id]
            records += [
                _build(found, results.get(name_try(judge, found.name)), each=each, judge=judge, config=config)
                for found in tries
            ] or [_build_empty(each, judge, config=config, reason="there is no solution to it")]
    return tuple(records)


def _read_solutions(folder: Path) -> SolutionList:
    try:
        return SolutionList.model_validate_json((folder / SOLUTIONS).read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / SOLUTIONS} cannot be read ({error}); go on with its run first") from error


def _build(
    found: Solution, result: BatchResult | None, *, each: SuiteTask, judge: str, config: JudgedConfig
) -> BenchRecord:
    if result is None:
        empty = _build_empty(each, judge, config=config, reason="it was not judged yet")
    elif result.evaluation is None:
        empty = _build_empty(
            each, judge, config=config, reason=result.reason, status=RecordStatus.MACHINE_ERROR
        ).model_copy(update={"verdict": result.status.value})
    else:
        empty = build_record(
            result.evaluation,
            place=each.place,
            level=each.level,
            problem=each.problem,
            policy=config.policy,
        )
    return empty.model_copy(update={"number": found.number, "solution": found.name})


def _build_empty(
    each: SuiteTask,
    judge: str,
    *,
    config: JudgedConfig,
    reason: str,
    status: RecordStatus = RecordStatus.MISSING,
) -> BenchRecord:
    return BenchRecord(
        task_id=each.task.task_id,
        place=each.place,
        level=each.level,
        problem=each.problem,
        policy=config.policy,
        judge=judge,
        target=config.target,
        status=status,
        reason=reason,
    )
