"""Every task gets a standing, also one that takes its process with it."""

import time
from pathlib import Path

from cuda_agent.bench.gate import Basis, Standing
from cuda_agent.bench.suite import SuiteTask, load_suite
from cuda_agent.bench.surveyor import Surveyor, survey_suite
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.task import Task

SUITE = Path(__file__).parents[1] / "suite"
DEADLY = "import os, torch\n{act}\nclass Model(torch.nn.Module):\n    pass\n"


def make_deadly(act: str) -> SuiteTask:
    return SuiteTask(place=act, task=Task(name="deadly", source=DEADLY.format(act=act)))


def test_the_suite_is_surveyed_around_a_crash(sandbox: Sandbox) -> None:
    first, *_, last = load_suite(SUITE).tasks
    with Surveyor(sandbox=sandbox) as surveyor:
        records = [surveyor.survey(each) for each in (first, make_deadly("os._exit(0)"), last)]
    assert [record.standing for record in records] == [Standing.PASSES, Standing.UNKNOWN, Standing.FAILS]
    assert [record.basis for record in records] == [Basis.FULL, Basis.NONE, Basis.FULL]
    assert "did not answer" in records[1].reason
    assert records[2].reason == "an output is constant"
    assert records[0].task_id == first.task.task_id
    assert records[0].facts is not None
    assert records[0].facts.output_bytes == 4 * 64 * 4096


def test_a_hang_is_ended(sandbox: Sandbox) -> None:
    with Surveyor(sandbox=sandbox, limit_s=0.5) as surveyor:
        record = surveyor.survey(make_deadly("import time; time.sleep(1000)"))
    assert record.standing is Standing.UNKNOWN
    assert "did not answer" in record.reason


def test_many_are_looked_at_at_once_and_none_is_lost(sandbox: Sandbox) -> None:
    tasks = [*load_suite(SUITE).tasks, make_deadly("os.kill(os.getpid(), 9)")]
    records = list(survey_suite(tasks, sandbox=sandbox, surveyors=2))
    assert sorted(record.task_id for record in records) == sorted(each.task.task_id for each in tasks)
    standings = {record.place: record.standing for record in records}
    assert standings["level2/2_all_ones"] is Standing.FAILS
    assert standings["os.kill(os.getpid(), 9)"] is Standing.UNKNOWN
    assert list(standings.values()).count(Standing.PASSES) == 5


def test_who_stops_listening_waits_for_nothing(sandbox: Sandbox) -> None:
    first = load_suite(SUITE).tasks[0]
    tasks = [first, *(make_deadly(f"import time; time.sleep(1000 + {number})") for number in range(4))]
    records = survey_suite(tasks, sandbox=sandbox, surveyors=2)
    assert next(records).standing is Standing.PASSES
    start_s = time.monotonic()
    records.close()
    assert time.monotonic() - start_s < 60.0
