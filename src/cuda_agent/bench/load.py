"""Records from what runs left: folders of `run` and `bench`, folders of `evaluate`, and files of records.

The tasks that were asked for are known from the run's configuration, so a task without a result is a record
too: TASK_ERROR where the gate refused it, MACHINE_ERROR where the machine failed, MISSING where nothing came.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.agent.job import Job
from cuda_agent.agent.outcome import JobOutcome
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.refused import read_refused
from cuda_agent.agent.results import RESULTS
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.bench.judged import JudgedConfig, load_judged
from cuda_agent.bench.record import BenchRecord, RecordStatus, build_record, list_task_flags
from cuda_agent.bench.suite import Suite, SuiteTask
from cuda_agent.environment import batch
from cuda_agent.environment.batch import BatchConfig, BatchResult
from cuda_agent.errors import UserError
from cuda_agent.judge.result import TaskResult
from cuda_agent.rundir import read_records, read_saved_config

RECORDS = "records.jsonl"
"""Where a benchmark's folder keeps its records."""
SUITE = "suite.json"
"""Where it keeps which suite it ran over."""


def load_records(path: Path) -> tuple[BenchRecord, ...]:
    """The records of a run's folder, or of a .jsonl file of records.

    Raises:
        UserError: it holds none, or is damaged.
    """
    if path.is_file():
        records = read_records(path, BenchRecord)
    elif "judges" in (config := read_saved_config(path)["config"]):
        records = load_judged(path, JudgedConfig.model_validate(config))
    elif "pairs" in config:
        records = _read_batch(path, BatchConfig.model_validate(config))
    else:
        records = _read_job(path, _parse_job(path, config))
    if not records:
        raise UserError(f"{path} holds no result yet; let its run go on first")
    return records


def _parse_job(path: Path, config: Mapping[str, object]) -> Job:
    try:
        return Job.model_validate(config)
    except ValidationError as error:
        raise UserError(
            f"{path} holds no run of `run`, `bench` or `evaluate`; give the folder of one"
        ) from error


def _read_job(path: Path, job: Job) -> tuple[BenchRecord, ...]:
    """One record for each episode, and one for each task that has none."""
    places = _read_places(path)
    default = {task.task_id: SuiteTask(place=task.task_id, task=task) for task in job.tasks}
    places = default | {key: value for key, value in places.items() if key in default}
    failures, refused = _read_failures(path), read_refused(path)
    records: dict[str, list[BenchRecord]] = {task.task_id: [] for task in job.tasks}
    for found in read_records(path / TRAJECTORIES, Trajectory):
        if found.task_id in records:
            records[found.task_id].append(_build_from_episode(found, places[found.task_id], job=job))
    for task_id, tries in records.items():
        if not tries and task_id in refused:
            tries.append(_build_refused(places[task_id], job, result=refused[task_id]))
        elif not tries:
            reason = failures.get(task_id, "no episode was finished")
            status = RecordStatus.MACHINE_ERROR if task_id in failures else RecordStatus.MISSING
            tries.append(_build_empty(places[task_id], job, status=status, reason=reason))
    return tuple(
        record for tries in records.values() for record in sorted(tries, key=lambda each: each.number)
    )


def _build_from_episode(found: Trajectory, each: SuiteTask, *, job: Job) -> BenchRecord:
    if found.final is None:
        reason = f"nothing was submitted ({found.stop_reason.value}: {found.stop_detail})"
        empty = _build_empty(each, job, status=RecordStatus.MISSING, reason=reason)
        return empty.model_copy(update={"number": found.episode})
    return build_record(
        found.final,
        place=each.place,
        level=each.level,
        problem=each.problem,
        number=found.episode,
        policy=found.policy,
    )


def _build_empty(each: SuiteTask, job: Job, *, status: RecordStatus, reason: str) -> BenchRecord:
    return BenchRecord(
        task_id=each.task.task_id,
        place=each.place,
        level=each.level,
        problem=each.problem,
        policy=job.episode.policy,
        judge=job.episode.judge,
        target=job.episode.target,
        status=status,
        reason=reason,
    )


def _build_refused(each: SuiteTask, job: Job, *, result: TaskResult) -> BenchRecord:
    empty = _build_empty(each, job, status=RecordStatus.TASK_ERROR, reason=result.reason)
    return empty.model_copy(update={"flags": list_task_flags(result), "gate_reason": result.reason})


def _read_places(path: Path) -> dict[str, SuiteTask]:
    file = path / SUITE
    return Suite.model_validate_json(file.read_text(encoding="utf-8")).index() if file.exists() else {}


def _read_failures(path: Path) -> dict[str, str]:
    file = path / RESULTS
    return JobOutcome.model_validate_json(file.read_text(encoding="utf-8")).failures if file.exists() else {}


def _read_batch(path: Path, config: BatchConfig) -> tuple[BenchRecord, ...]:
    """The newest result of each pair; a pair is a try at its task, by whoever is called like the list."""
    newest = {result.pair_id: result for result in read_records(path / batch.RESULTS, BatchResult)}
    policy = config.pairs.name
    return number_tries(_build_from_result(result, config, policy=policy) for result in newest.values())


def _build_from_result(result: BatchResult, config: BatchConfig, *, policy: str) -> BenchRecord:
    if result.evaluation is not None:
        return build_record(result.evaluation, place=result.pair_id, policy=policy)
    return BenchRecord(
        task_id=result.task_id or result.pair_id,
        place=result.pair_id,
        policy=policy,
        judge=config.policy,
        target=config.target,
        status=RecordStatus.MACHINE_ERROR,
        verdict=result.status.value,
        reason=result.reason,
    )


def number_tries(records: Iterable[BenchRecord]) -> tuple[BenchRecord, ...]:
    """The records with each task's tries numbered from 0, in the order in which they come."""
    counts: dict[str, int] = {}
    numbered = []
    for record in records:
        number = counts.get(record.task_id, 0)
        counts[record.task_id] = number + 1
        numbered.append(record.model_copy(update={"number": number}))
    return tuple(numbered)


def write_records(path: Path, records: Sequence[BenchRecord]) -> None:
    """Write records as a .jsonl file that `load_records` reads."""
    path.write_text("".join(f"{each.model_dump_json()}\n" for each in records), encoding="utf-8")
