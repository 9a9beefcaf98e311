"""Runs become records, and no task of a run is lost."""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.refused import write_refused
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.bench.load import RECORDS, SUITE, load_records, number_tries, write_records
from cuda_agent.bench.record import Flag, RecordStatus
from cuda_agent.bench.suite import load_suite
from cuda_agent.bench.summary import summarise
from cuda_agent.environment.batch import RESULTS, BatchConfig, BatchResult
from cuda_agent.environment.result import Evaluation
from cuda_agent.errors import UserError
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from tests.agent.conftest import build_profile
from tests.bench.conftest import BuildRecord
from tests.bench.test_record import evaluate

TASKS = Path(__file__).parents[1] / "suite"


def make_trajectory(task_id: str, episode: int, *, final: Evaluation | None) -> Trajectory:
    if final is not None:
        final = final.model_copy(update={"task_id": task_id})
    return Trajectory(
        task_id=task_id,
        episode=episode,
        target=Target.CPU,
        policy="expert",
        prompt=(),
        tools=(),
        turns=(),
        stop_reason=StopReason.FINISHED,
        stop_detail="it gave up",
        submissions=(),
        final=final,
    )


def test_every_task_of_a_run_is_on_record(tmp_path: Path) -> None:
    suite = load_suite(TASKS, levels=[1])
    job = Job(
        tasks=tuple(each.task for each in suite.tasks), episode=EpisodeConfig(target=Target.CPU), episodes=2
    )
    first, second, third, fourth = (each.task.task_id for each in suite.tasks)
    with RunDir.create(tmp_path / "run", job) as run:
        run.write_text(SUITE, suite.model_dump_json())
        run.append(TRAJECTORIES, make_trajectory(third, 1, final=evaluate(profiled=build_profile(2.0))))
        run.append(TRAJECTORIES, make_trajectory(first, 0, final=evaluate(profiled=build_profile(3.0))))
        run.append(TRAJECTORIES, make_trajectory(third, 0, final=None))
    records = load_records(tmp_path / "run")
    assert [(each.task_id, each.number, each.status) for each in records] == [
        (first, 0, RecordStatus.CORRECT),
        (second, 0, RecordStatus.MISSING),
        (third, 0, RecordStatus.MISSING),
        (third, 1, RecordStatus.CORRECT),
        (fourth, 0, RecordStatus.MISSING),
    ]
    assert [(each.place, each.level, each.problem) for each in records[2:4]] == [
        ("level1/10_tanh", 1, 10)
    ] * 2
    assert "it gave up" in records[2].reason


def test_a_task_that_the_gate_refused_is_no_failure_of_the_policy(tmp_path: Path) -> None:
    suite = load_suite(TASKS, levels=[1])
    first, second = (each.task for each in suite.tasks[:2])
    job = Job(tasks=(first, second), episode=EpisodeConfig(target=Target.CPU))
    with RunDir.create(tmp_path / "run", job) as run:
        run.append(
            TRAJECTORIES, make_trajectory(first.task_id, 0, final=evaluate(profiled=build_profile(2.0)))
        )
        write_refused(run, {second.task_id: TaskResult(status=TaskStatus.FAULTY, reason="zeros would pass")})
    solved, refused = load_records(tmp_path / "run")
    assert solved.status is RecordStatus.CORRECT
    assert (refused.status, refused.flags) == (RecordStatus.TASK_ERROR, (Flag.GATE,))
    assert refused.reason == refused.gate_reason == "zeros would pass"


def test_a_batch_keeps_what_the_machine_failed(tmp_path: Path) -> None:
    config = BatchConfig(pairs=Path("pairs.jsonl"), target=Target.CPU)
    done = evaluate(profiled=build_profile(2.0))
    with RunDir.create(tmp_path / "run", config) as run:
        run.append(
            RESULTS, BatchResult.model_validate({"pair_id": "a", "status": "crashed", "reason": "gone"})
        )
        run.append(
            RESULTS, BatchResult.model_validate({"pair_id": "b", "status": "done", "evaluation": done})
        )
    records = load_records(tmp_path / "run")
    assert [(each.place, each.status) for each in records] == [
        ("a", RecordStatus.MACHINE_ERROR),
        ("b", RecordStatus.CORRECT),
    ]
    assert records[0].reason == "gone"


def test_a_try_that_the_machine_failed_is_one_at_its_task(tmp_path: Path) -> None:
    config = BatchConfig(pairs=Path("pairs.jsonl"), target=Target.CPU)
    done = evaluate(profiled=build_profile(2.0))
    failed = {"pair_id": "a", "task_id": done.task_id, "status": "crashed", "reason": "gone"}
    with RunDir.create(tmp_path / "run", config) as run:
        run.append(RESULTS, BatchResult.model_validate(failed))
        run.append(
            RESULTS, BatchResult.model_validate({"pair_id": "b", "status": "done", "evaluation": done})
        )
    records = load_records(tmp_path / "run")
    assert [(each.task_id, each.number) for each in records] == [(done.task_id, 0), (done.task_id, 1)]
    (row, *_) = summarise(records)
    assert (row.tasks, row.tries) == (1, 2)


def test_records_come_back_as_they_were(build: BuildRecord, tmp_path: Path) -> None:
    records = number_tries([build("a-0", 2.0), build("b-0"), build("a-0")])
    assert [record.number for record in records] == [0, 0, 1]
    write_records(tmp_path / RECORDS, records)
    assert load_records(tmp_path / RECORDS) == records


def test_nothing_to_load_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("")
    with pytest.raises(UserError, match="no result yet"):
        load_records(tmp_path / "x.jsonl")
    with pytest.raises(UserError, match="holds no run"):
        load_records(tmp_path)
