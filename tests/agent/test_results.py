"""Results are there at any time, lose nothing, and do not cost the square of the episodes."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuda_agent.agent.outcome import JobOutcome, Outcome, combine
from cuda_agent.agent.results import RESULTS, Results
from cuda_agent.config import Config
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.winner import EVALUATIONS
from cuda_agent.rundir import RunDir
from tests.agent.test_outcome import build_outcome

BuildEvaluation = Callable[[str, float | None], Evaluation]


class CountingRun(RunDir):
    """A run that counts what is written."""

    def __init__(self, path: Path, lock: int) -> None:
        super().__init__(path, lock)
        self.written: defaultdict[str, list[int]] = defaultdict(list)

    def write_text(self, name: str, text: str) -> None:
        """Count the characters, and write them."""
        self.written[name].append(len(text))
        super().write_text(name, text)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[CountingRun]:
    """An open run."""
    with CountingRun.create(tmp_path / "run", Config()) as run:
        yield run


def build_result(task_id: str, episode: int = 0, *, final: Evaluation | None = None) -> Outcome:
    reward = -1.0 if final is None or final.profile is None else 3.0
    return build_outcome(task_id, episode, reward=reward, final=final)


def read_results(run: RunDir) -> JobOutcome:
    return JobOutcome.model_validate_json((run.path / RESULTS).read_text())


def read_evaluation(run: RunDir, task_id: str) -> Evaluation:
    return Evaluation.model_validate_json((run.path / EVALUATIONS / f"{task_id}.json").read_text())


def test_of_few_episodes_each_is_told_at_once_in_the_jobs_order(run: CountingRun) -> None:
    results = Results(run, [("a", 0), ("b", 0), ("c", 0)], held=())
    results.add(build_result("b"))
    assert [task.task_id for task in read_results(run).tasks] == ["b"]
    results.fail("c", "the machine is gone")
    assert read_results(run).failures == {"c": "the machine is gone"}
    results.add(build_result("a"))
    assert [task.task_id for task in read_results(run).tasks] == ["a", "b"]
    assert ("a", 0) in results
    assert ("c", 0) not in results
    assert results.finish() == read_results(run)


def test_the_evaluation_that_counts_is_written_when_a_better_one_comes(
    run: CountingRun, build_evaluation: BuildEvaluation
) -> None:
    speedups = {0: 1.2, 2: None, 1: 1.9, 3: 1.5, 4: 1.9}
    results = Results(run, [("a", number) for number in range(6)], held=())
    counting = []
    for number, speedup in speedups.items():
        results.add(build_result("a", number, final=build_evaluation(f"sha{number}", speedup)))
        counting.append(read_evaluation(run, "a").submission_sha)
    results.add(build_result("a", 5))
    assert counting == ["sha0", "sha0", "sha1", "sha1", "sha1"]
    assert results.finish().tasks[0].best.episode == 1
    assert len(run.written[f"{EVALUATIONS}/a.json"]) == 2


def test_many_episodes_cost_in_proportion_and_the_last_are_told_by_the_trajectories(
    run: CountingRun, build_evaluation: BuildEvaluation
) -> None:
    outcomes = [build_result(f"t{number}", final=build_evaluation("sha", 1.5)) for number in range(200)]
    order = [(outcome.task_id, 0) for outcome in outcomes]
    results = Results(run, order, held=())
    for count, outcome in enumerate(outcomes[:199], start=1):
        results.add(outcome)
        assert len(read_results(run).tasks) > 0.9 * count
    sizes = run.written[RESULTS]
    assert sum(sizes) < 15 * sizes[-1]
    # Killed here: what results.json lacks is read from the trajectories by whoever goes on.
    again = Results(run, order, held=outcomes[:199])
    again.add(outcomes[199])
    assert again.finish() == combine(outcomes, failures={}) == read_results(run)


def test_an_evaluation_that_a_killed_process_did_not_write_is_written(
    run: CountingRun, build_evaluation: BuildEvaluation
) -> None:
    held = [build_result("a", final=build_evaluation("sha0", 1.2)), build_result("b")]
    Results(run, [("a", 0), ("b", 0)], held=held).finish()
    assert read_evaluation(run, "a").submission_sha == "sha0"
    assert [path.name for path in (run.path / EVALUATIONS).iterdir()] == ["a.json"]
