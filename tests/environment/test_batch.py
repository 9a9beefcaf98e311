"""Many evaluations: each has its record, nothing finished is lost or done twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet
import pytest

from cuda_agent.environment.batch import (
    RESULTS,
    BatchConfig,
    BatchResult,
    evaluate_pairs,
    write_table,
)
from cuda_agent.environment.evaluator import SERVED
from cuda_agent.environment.pairs import read_pairs
from cuda_agent.environment.result import Evaluation, RulesResult, RulesStatus
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.census import find_processes_below
from cuda_agent.rundir import RunDir, read_records
from cuda_agent.tasks.dataset import Row, write_dataset
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.devices import plan_local_workers
from cuda_agent.workers.item import Answer, OutcomeStatus, Tier
from cuda_agent.workers.worker import PROBE, WorkerFailedError
from cuda_agent.workers.worker_pool import WorkerPool
from tests.full_disk import full_disk
from tests.judge_cases import HACKS, HONEST, find_task, freeze_case, load_case

CASES = {
    "good": HONEST / "float_lanes",
    "wrong": HACKS / "bias_left_out",
    "forbidden": HACKS / "held_layer_called",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Three submissions, one of which has no readable task."""
    root = tmp_path / "tree"
    for name, folder in CASES.items():
        case = load_case(folder)
        place = root / name
        freeze_case(case, Target.CPU).write_to(place)
        shutil.copyfile(find_task(case.task), place / "model.py")
    shutil.copytree(root / "good", root / "no_task")
    (root / "no_task" / "model.py").write_text("def get_inputs(:\n")
    return root


def check(results: tuple[BatchResult, ...]) -> None:
    verdicts = {result.pair_id: result.verdict for result in results}
    assert verdicts["wrong"] == "verify:mismatch"
    assert verdicts["forbidden"] == "rules:violation"
    assert verdicts["no_task"] == "failed"
    assert verdicts["good"] in ("ok", "profile:clock_disputed")  # the machine may be busy
    assert len(verdicts) == 4


class Unable:
    """A worker of this process that can do nothing, and counts how often it was asked to."""

    name = "unable"
    asked: ClassVar[list[str]] = []

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        if method == PROBE:
            return Answer(value={})
        self.asked.append(method)
        raise WorkerFailedError("it cannot")

    def close(self) -> None:
        """Nothing to end."""


def test_a_full_disk_stops_new_work_and_loses_no_result(tree: Path, tmp_path: Path) -> None:
    for number in range(40):
        shutil.copytree(tree / "good", tree / f"good {number}")
    config = BatchConfig(pairs=tree, target=Target.CPU)
    pairs = read_pairs(tree)
    with (
        RunDir.create(tmp_path / "run", config) as run,
        WorkerPool({Tier.HOST: [Unable], Tier.DEVICE: [Unable]}) as pool,
    ):
        results = evaluate_pairs(pairs, config, pool=pool, run=run)
        found = [next(results)]
        with full_disk(10):
            found += [next(results), next(results)]
        assert len(run.read(RESULTS, BatchResult)) == 1
        found += list(results)
        assert [result.pair_id for result in run.read(RESULTS, BatchResult)] == [r.pair_id for r in found]
        task_id = load_task(tree / "good" / "model.py").task_id
        assert {result.task_id for result in found if result.pair_id.startswith("good")} == {task_id}
        assert 3 < len(found) < 20 < len(pairs)
        assert len(Unable.asked) <= 2 * len(found)
        with full_disk(10), pytest.raises(InfrastructureError, match=r"results\.jsonl cannot be written"):
            list(evaluate_pairs(pairs, config, pool=pool, run=run))


def test_what_was_done_is_done_again_where_its_task_changed(tree: Path, tmp_path: Path) -> None:
    config = BatchConfig(pairs=tree, target=Target.CPU)
    (pair,) = (pair for pair in read_pairs(tree) if pair.pair_id == "good")
    reference = tree / "good" / "model.py"
    evaluation = Evaluation(
        task_id=load_task(reference).task_id,
        submission_sha=freeze_submission(pair.submission).sha,
        target=Target.CPU,
        policy="strict",
        rules=RulesResult(status=RulesStatus.OK),
    )
    done = BatchResult(
        pair_id="good",
        submission_sha=evaluation.submission_sha,
        status=OutcomeStatus.DONE,
        evaluation=evaluation,
    )
    with (
        RunDir.create(tmp_path / "run", config) as run,
        WorkerPool({Tier.HOST: [Unable], Tier.DEVICE: [Unable]}) as pool,
    ):
        run.append(RESULTS, done)
        assert list(evaluate_pairs([pair], config, pool=pool, run=run)) == []
        reference.write_text(reference.read_text() + "\n")
        assert [each.pair_id for each in evaluate_pairs([pair], config, pool=pool, run=run)] == ["good"]


def test_rows_of_data_sets_and_other_projects_forms_reach_the_pool(tiny_task: Task, tmp_path: Path) -> None:
    write_dataset(
        tmp_path / "tasks.parquet",
        [Row(ops=("torch.relu",), data_source="", code=tiny_task.source, id="r1")],
    )
    (tmp_path / "single.py").write_text("class ModelNew: ...\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "model_new.py").write_text("import cuda_extension\n")
    lines = [{"task": "tasks.parquet#r1", "submission": name} for name in ("single.py", "work")]
    lines.append({"task": "tasks.parquet#r2", "submission": "work", "id": "no such row"})
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    config = BatchConfig(pairs=tmp_path / "pairs.jsonl", target=Target.CPU)
    with (
        RunDir.create(tmp_path / "run", config) as run,
        WorkerPool({Tier.HOST: [Unable], Tier.DEVICE: [Unable]}) as pool,
    ):
        results = {
            each.pair_id: each
            for each in evaluate_pairs(read_pairs(config.pairs), config, pool=pool, run=run)
        }
    assert [bool(results[name].submission_sha) for name in ("single.py", "work", "no such row")] == [
        True,
        True,
        False,
    ]
    assert "has no row and no split 'r2'" in results["no such row"].reason


@pytest.mark.slow
def test_every_pair_has_its_record_and_is_not_done_again(tree: Path, tmp_path: Path) -> None:
    config = BatchConfig(pairs=tree, target=Target.CPU)
    pairs = read_pairs(tree)
    with RunDir.create(tmp_path / "run", config) as run:
        with WorkerPool(plan_local_workers(SERVED, devices=(), host_workers=1)) as pool:
            first = list(evaluate_pairs(pairs, config, pool=pool, run=run))
            (tree / "wrong" / "model_new.py").write_text("import os\n")
            again = list(evaluate_pairs(pairs, config, pool=pool, run=run))
        assert len(first) == 4
        check(tuple(first))
        # What changed, and what the machine could not do.
        assert {result.pair_id: result.verdict for result in again} == {
            "wrong": "rules:violation",
            "no_task": "failed",
        }
        assert "line 1" in next(result.reason for result in again if result.pair_id == "no_task")
        rows = pyarrow.parquet.read_table(write_table(run)).to_pylist()
    assert {row["pair_id"]: row["verdict"] for row in rows}["wrong"] == "rules:violation"
    assert {row["pair_id"]: row["reward"] for row in rows}["forbidden"] == -1.0


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tree: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cuda_agent.cli.main", "evaluate", str(tree), "--target", "cpu"]
    run, scratch = tmp_path / "run", tmp_path / "scratch"
    scratch.mkdir()
    env = {**os.environ, "TMPDIR": str(scratch)}
    process = subprocess.Popen([*command, "--out", str(run)], env=env)
    deadline = time.monotonic() + 200
    while not read_done(run) and time.monotonic() < deadline:
        time.sleep(0.1)
    started = find_processes_below(process.pid).keys()
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = read_done(run)
    assert done
    assert list(scratch.iterdir())
    again = [*command, "--resume", str(run)]
    ended = subprocess.run(again, check=False, capture_output=True, text=True, env=env)
    assert ended.returncode == 3, ended.stderr  # one pair has no readable task
    results = read_records(run / RESULTS, BatchResult)
    for name in done:
        assert sum(result.pair_id == name for result in results) == 1
    check(tuple(results))
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    assert not list(scratch.iterdir())


def read_done(run: Path) -> set[str]:
    if not (run / RESULTS).exists():
        return set()
    results = read_records(run / RESULTS, BatchResult)
    return {result.pair_id for result in results if result.status is OutcomeStatus.DONE}
