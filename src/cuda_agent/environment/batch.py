"""Many evaluations on a pool: every one ends in a record, and what is done is not done again."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow
from pyarrow import parquet

from cuda_agent.config import Config, Record
from cuda_agent.environment.evaluator import make_item
from cuda_agent.environment.pairs import Pair
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import compute_reward
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.place import load_one_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Outcome, OutcomeStatus, StepTimes, WorkItem
from cuda_agent.workers.pool import Pool

RESULTS = "results.jsonl"
TABLE = "results.parquet"

log = logging.getLogger(__name__)


class BatchConfig(Config):
    """What a batch depends on."""

    pairs: Path
    """The list or tree that the pairs come from."""
    target: Target
    """Where kernels run."""
    policy: str = "strict"
    """How strictly submissions are judged."""
    containment: Containment = Containment.AUTO
    """How untrusted commands are contained."""


class BatchResult(Record):
    """What came of one pair."""

    pair_id: str
    """Which."""
    task_id: str = ""
    """The task's readable id; empty where nothing could be read, and in results of an older version."""
    submission_sha: str = ""
    """Content hash of what was evaluated; empty where nothing could be read."""
    status: OutcomeStatus
    """How the evaluation ended; DONE also where the submission failed it."""
    reason: str = ""
    """One sentence, when not DONE."""
    evaluation: Evaluation | None = None
    """What was found, when DONE."""
    reward: float | None = None
    """What it earned, when DONE."""
    times: tuple[StepTimes, ...] = ()
    """How long its steps waited and ran."""

    @property
    def verdict(self) -> str:
        """`ok`, the failed stage and its status, or how the evaluation itself failed."""
        return self.evaluation.verdict if self.evaluation else self.status.value


def evaluate_pairs(
    pairs: Sequence[Pair], config: BatchConfig, *, pool: Pool, run: RunDir
) -> Iterator[BatchResult]:
    """Evaluate what the run does not hold yet; results come, and are kept, as they end.

    A pair is done when the run holds a result of the same content that the machine did not fail.

    Raises:
        InfrastructureError: the disk refused results to the end; what was being done when it first did so
            was finished, and nothing more was begun.
    """
    done = {
        (result.pair_id, result.submission_sha, result.evaluation.task_id)
        for result in run.read(RESULTS, BatchResult)
        if result.evaluation is not None
    }
    prepared, records = _Preparing(config, done=done), _Records(run)
    for outcome in pool.run(prepared.make_items(pairs)):
        task_id, sha = prepared.contents[outcome.item_id]
        result = _conclude(outcome, config, task_id=task_id, sha=sha)
        for each in (*prepared.take_failures(), result):
            prepared.has_room = records.keep(each)
            yield each
    for failure in prepared.take_failures():
        records.keep(failure)
        yield failure
    records.finish()


class _Records:
    """Writes results down; what the disk refuses is kept, and tried again with the next."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._unwritten: list[BatchResult] = []

    def keep(self, result: BatchResult) -> bool:
        """Write it, after those that wait; whether there was room."""
        self._unwritten.append(result)
        try:
            self.finish()
        except InfrastructureError as error:
            log.warning("no more work is taken in, %d results wait: %s", len(self._unwritten), error)
            return False
        return True

    def finish(self) -> None:
        """Write what waits.

        Raises:
            InfrastructureError: the disk refuses.
        """
        while self._unwritten:
            self._run.append(RESULTS, self._unwritten[0])
            self._unwritten.pop(0)


class _Preparing:
    """Reads pairs as the pool takes them in; what cannot be read ends there."""

    def __init__(self, config: BatchConfig, *, done: set[tuple[str, str, str]]) -> None:
        self.contents: dict[str, tuple[str, str]] = {}
        self.has_room = True
        self._config = config
        self._done = done
        self._failures: list[BatchResult] = []

    def make_items(self, pairs: Sequence[Pair]) -> Iterator[WorkItem]:
        for pair in pairs:
            if not self.has_room:
                return
            try:
                task = pair.task if isinstance(pair.task, Task) else load_one_task(pair.task)
                submission = freeze_submission(pair.submission)
            except (UserError, OSError) as error:
                failure = BatchResult(pair_id=pair.pair_id, status=OutcomeStatus.FAILED, reason=str(error))
                self._failures.append(failure)
                continue
            if (pair.pair_id, submission.sha, task.task_id) not in self._done:
                self.contents[pair.pair_id] = task.task_id, submission.sha
                yield self._make_item(pair, task, submission=submission)

    def take_failures(self) -> list[BatchResult]:
        failures, self._failures = self._failures, []
        return failures

    def _make_item(self, pair: Pair, task: Task, *, submission: Submission) -> WorkItem:
        return make_item(
            pair.pair_id,
            task,
            submission=submission,
            target=self._config.target,
            policy=self._config.policy,
            containment=self._config.containment,
        )


def read_results(run: RunDir) -> tuple[BatchResult, ...]:
    """The newest result of each pair."""
    return tuple({result.pair_id: result for result in run.read(RESULTS, BatchResult)}.values())


def write_table(run: RunDir) -> Path:
    """Write the newest results as a parquet file, one row each, and say where."""
    rows = [_flatten(result) for result in read_results(run)]
    path = run.path / TABLE
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=_SCHEMA), path)
    return path


def _conclude(outcome: Outcome, config: BatchConfig, *, task_id: str, sha: str) -> BatchResult:
    evaluation = Evaluation.model_validate(outcome.value) if outcome.value is not None else None
    at_lower_bound = load_policy(config.policy).at_lower_bound
    return BatchResult(
        pair_id=outcome.item_id,
        task_id=task_id,
        submission_sha=sha,
        status=outcome.status,
        reason=outcome.reason,
        evaluation=evaluation,
        reward=compute_reward(evaluation, at_lower_bound=at_lower_bound) if evaluation else None,
        times=outcome.times,
    )


_SCHEMA = pyarrow.schema(
    [
        ("pair_id", pyarrow.string()),
        ("task_id", pyarrow.string()),
        ("submission_sha", pyarrow.string()),
        ("verdict", pyarrow.string()),
        ("reason", pyarrow.string()),
        ("task_status", pyarrow.string()),
        ("task_flags", pyarrow.list_(pyarrow.string())),
        ("reward", pyarrow.float64()),
        ("candidate_ms", pyarrow.float64()),
        ("eager_ms", pyarrow.float64()),
        ("compile_ms", pyarrow.float64()),
        ("over_eager", pyarrow.float64()),
        ("over_compile", pyarrow.float64()),
        ("build_s", pyarrow.float64()),
        ("seconds", pyarrow.float64()),
    ]
)


def _flatten(result: BatchResult) -> dict[str, object]:
    evaluation = result.evaluation
    profile = evaluation.profile if evaluation else None
    task = evaluation.task if evaluation else None
    timings = [getattr(profile, name, None) for name in ("candidate", "eager", "compiled")]
    ratios = [getattr(profile, name, None) for name in ("over_eager", "over_compiled")]
    return {
        "pair_id": result.pair_id,
        "task_id": evaluation.task_id if evaluation else result.task_id or None,
        "submission_sha": result.submission_sha,
        "verdict": result.verdict,
        "reason": evaluation.reason if evaluation else result.reason,
        "task_status": task.status.value if task else None,
        "task_flags": list(task.flags) if task else None,
        "reward": result.reward,
        **{
            name: timing.median_ms if timing else None
            for name, timing in zip(("candidate_ms", "eager_ms", "compile_ms"), timings, strict=True)
        },
        **{
            name: ratio.point if ratio else None
            for name, ratio in zip(("over_eager", "over_compile"), ratios, strict=True)
        },
        "build_s": evaluation.build.duration_s if evaluation and evaluation.build else None,
        "seconds": sum(times.ran_s for times in result.times),
    }
