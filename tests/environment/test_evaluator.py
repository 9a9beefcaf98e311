"""What a worker is asked, and what it answers, for good and for bad submissions."""

from collections.abc import Iterator

import pytest

from cuda_agent.environment.evaluator import Evaluator, make_item
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import Submission
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Tier


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    evaluator = Evaluator()
    yield evaluator
    evaluator.close()


def test_a_build_goes_on_to_the_judge(evaluator: Evaluator, tiny_task: Task, submission: Submission) -> None:
    item = make_item("a", tiny_task, submission=submission, target=Target.CPU)
    assert [step.tier for step in item.steps] == [Tier.HOST, Tier.DEVICE]
    answer = evaluator.build(item.payload)
    assert not answer.is_last
    assert Evaluation.model_validate(answer.value).build is not None


@pytest.mark.parametrize("target", Target)
def test_what_breaks_the_rules_takes_no_device(
    evaluator: Evaluator, tiny_task: Task, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # as workers that build have it
    item = make_item("a", tiny_task, submission=Submission({"model_new.py": b"import os\n"}), target=target)
    answer = evaluator.build(item.payload)
    assert answer.is_last
    assert Evaluation.model_validate(answer.value).rules.violations


def test_a_healthy_worker_says_how_fast_it_is(evaluator: Evaluator) -> None:
    assert evaluator.probe({}).value["product_ms"] > 0
