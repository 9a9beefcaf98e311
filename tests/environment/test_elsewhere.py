"""An environment that judges nothing itself: a pool does, and answers as if it were judged here."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.elsewhere import Elsewhere, open_pool
from cuda_agent.environment.environment import Environment
from cuda_agent.environment.evaluator import SERVED
from cuda_agent.environment.inspection import Inspection
from cuda_agent.environment.remote_pool import RemotePool
from cuda_agent.environment.result import Stage
from cuda_agent.environment.reward import compute_reward
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import ConfigError, InfrastructureError
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.devices import plan_local_workers
from cuda_agent.workers.item import Outcome, OutcomeStatus, WorkItem
from cuda_agent.workers.worker_pool import WorkerPool


class SpentPool:
    """A pool without a worker, which keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[WorkItem] = []

    @property
    def causes(self) -> tuple[str, ...]:
        return ("all fell ill",)

    def run(self, items: Iterable[WorkItem]) -> Iterator[Outcome]:
        for item in items:
            self.asked.append(item)
            yield Outcome(item_id=item.item_id, status=OutcomeStatus.NO_WORKER, reason="all fell ill")


def open_environment(task: Task, folder: Path, *, elsewhere: Elsewhere) -> Environment:
    return Environment(
        task,
        target=Target.CPU,
        sandbox=build_sandbox(Containment.AUTO),
        policy=load_policy("strict"),
        folder=folder,
        admission=elsewhere,
    )


@pytest.mark.slow
def test_a_submission_is_judged_by_the_pool(tiny_task: Task, submission: Submission, tmp_path: Path) -> None:
    with (
        WorkerPool(plan_local_workers(SERVED, devices=(), host_workers=1)) as pool,
        open_environment(tiny_task, tmp_path, elsewhere=Elsewhere(pool)) as environment,
    ):
        for path, content in submission.files.items():
            environment.workspace.write_text(path, content.decode())
        built, verified = environment.evaluate(Stage.BUILD), environment.evaluate(Stage.VERIFY)
        evaluation = environment.submit()
    assert built.build is not None
    assert built.verify is None
    assert verified.verify is not None
    assert verified.profile is None
    assert evaluation.submission_sha == submission.sha
    assert compute_reward(evaluation, at_lower_bound=True) >= 1.0


def test_a_pool_that_fails_is_the_machines_fault(tiny_task: Task, tmp_path: Path) -> None:
    pool = SpentPool()
    with open_environment(tiny_task, tmp_path, elsewhere=Elsewhere(pool)) as environment:
        with pytest.raises(InfrastructureError, match=r"did not evaluate it \(no_worker: all fell ill\)"):
            environment.evaluate(Stage.BUILD)
        with pytest.raises(InfrastructureError, match="all fell ill"):
            environment.submit()
    assert [len(item.steps) for item in pool.asked] == [1, 2]  # a build takes no device


def test_nothing_is_inspected_elsewhere(tiny_task: Task, tmp_path: Path) -> None:
    with open_environment(tiny_task, tmp_path, elsewhere=Elsewhere(SpentPool())) as environment:
        answer = environment.inspect(Inspection.ASSEMBLY)
    assert answer.status == 2
    assert "other machines" in answer.text


def test_a_server_is_found_by_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_AGENT_TOKEN", "secret")
    pool = open_pool("http://127.0.0.1:8321/")
    assert isinstance(pool, RemotePool)
    assert (pool._url, pool._token) == ("http://127.0.0.1:8321", "secret")


def test_what_is_no_pool_is_refused() -> None:
    with pytest.raises(ConfigError, match="'judges' is no pool: give ray:NAME, or a URL"):
        open_pool("judges")
