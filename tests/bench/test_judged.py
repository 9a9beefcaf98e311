"""Solutions made elsewhere have a record each under every policy, and tasks without one have one too."""

from pathlib import Path

import pytest

from cuda_agent.bench.judged import SOLUTIONS, JudgedConfig, name_try
from cuda_agent.bench.load import load_records
from cuda_agent.bench.record import RecordStatus
from cuda_agent.bench.solutions import find_solutions
from cuda_agent.bench.suite import load_suite
from cuda_agent.environment.batch import RESULTS, BatchResult
from cuda_agent.errors import UserError
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from tests.bench.test_record import evaluate, profile

SUITE = Path(__file__).parents[1] / "suite"


def test_each_solution_under_each_policy(tmp_path: Path) -> None:
    suite = load_suite(SUITE, levels=[1], only=["level1/1", "level1/2"])
    made = tmp_path / "made by x"
    made.mkdir()
    for sample in (0, 1, 2):
        (made / f"level_1_problem_1_sample_{sample}_kernel.py").write_text("class ModelNew: ...\n")
    config = JudgedConfig(suite=suite, solutions=str(made), target=Target.CPU, judges=("strict", "paper"))
    names = [f"level_1_problem_1_sample_{sample}_kernel.py" for sample in (0, 1)]
    first = evaluate(profiled=profile()).model_copy(update={"task_id": suite.tasks[0].task.task_id})
    done = {"status": "done", "evaluation": first}
    with RunDir.create(tmp_path / "run", config) as run:
        run.write_text(SOLUTIONS, find_solutions(made, suite).listed.model_dump_json())
        for name, fields in (
            (names[0], {"status": "crashed"}),
            (names[0], done),
            (names[1], {"status": "crashed"}),
        ):
            run.append(RESULTS, BatchResult.model_validate({"pair_id": name_try("strict", name), **fields}))
    records = load_records(tmp_path / "run")
    assert [(each.judge, each.place, each.number, each.status) for each in records] == [
        ("strict", "level1/1_relu", 0, RecordStatus.CORRECT),
        ("strict", "level1/1_relu", 1, RecordStatus.MACHINE_ERROR),
        ("strict", "level1/1_relu", 2, RecordStatus.MISSING),
        ("strict", "level1/2_row_softmax", 0, RecordStatus.MISSING),
        *(("paper", "level1/1_relu", number, RecordStatus.MISSING) for number in (0, 1, 2)),
        ("paper", "level1/2_row_softmax", 0, RecordStatus.MISSING),
    ]
    assert {each.policy for each in records} == {"made by x"}
    assert records[0].solution == names[0]
    assert records[2].reason == "it was not judged yet"
    assert records[3].reason == "there is no solution to it"
    (tmp_path / "run" / SOLUTIONS).write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        load_records(tmp_path / "run")
