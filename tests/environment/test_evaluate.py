"""A submission goes through the stages up to the one asked for, or to the first that fails."""

from collections.abc import Iterator

import pytest

from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.result import BuildStatus, Evaluation, RulesStatus, Stage
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

KERNEL = "kernels/relu_scale.cpp"


@pytest.fixture(scope="module")
def setting(sandbox: Sandbox, tiny_task: Task) -> Setting:
    return Setting(task=tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))


@pytest.fixture(scope="module")
def judge(setting: Setting) -> Iterator[Judge]:
    with setting.open_judge() as opened:
        yield opened


def change(submission: Submission, path: str, *, old: bytes, new: bytes) -> Submission:
    assert old in submission.files[path]
    return Submission({**submission.files, path: submission.files[path].replace(old, new)})


def list_reached(evaluation: Evaluation) -> list[str]:
    return [stage.value for stage in Stage if getattr(evaluation, stage.value) is not None]


@pytest.mark.parametrize("until", [Stage.RULES, Stage.BUILD])
def test_stops_where_asked(submission: Submission, setting: Setting, judge: Judge, until: Stage) -> None:
    evaluation = evaluate(submission, setting=setting, judge=judge, until=until)
    assert evaluation.failed_stage is None
    assert list_reached(evaluation) == [stage.value for stage in Stage][: list(Stage).index(until) + 1]
    assert list(evaluation.seconds) == list_reached(evaluation)


def test_a_right_one_is_verified(submission: Submission, setting: Setting, judge: Judge) -> None:
    evaluation = evaluate(submission, setting=setting, judge=judge, until=Stage.VERIFY)
    assert evaluation.verify is not None
    assert evaluation.verify.status is VerifyStatus.OK, evaluation.verify
    assert evaluation.profile is None
    assert list(evaluation.seconds) == ["rules", "build", "open", "start", "load", "wait", "verify"]
    assert evaluation.submission_sha == submission.sha
    assert evaluation.task_id == setting.task.task_id


def test_one_wrong_element_is_found(submission: Submission, setting: Setting, judge: Judge) -> None:
    wrong = change(submission, KERNEL, old=b"}\nEXPORT", new=b"  result[7] += 0.01f;\n}\nEXPORT")
    evaluation = evaluate(wrong, setting=setting, judge=judge, until=Stage.VERIFY)
    assert evaluation.failed_stage is Stage.VERIFY
    assert evaluation.verify is not None
    assert evaluation.verify.mismatch is not None
    assert evaluation.verify.mismatch.index == (0, 7)
    assert evaluation.verify.mismatch.differing == 1


def test_the_first_failure_ends_it(submission: Submission, setting: Setting, judge: Judge) -> None:
    broken = change(submission, KERNEL, old=b"EXPORT", new=b"oops EXPORT")
    evaluation = evaluate(broken, setting=setting, judge=judge)
    assert list_reached(evaluation) == ["rules", "build"]
    assert evaluation.build is not None
    assert evaluation.build.status is BuildStatus.COMPILE_ERROR
    forbidden = change(
        broken, "model_new.py", old=b"kernels.relu_scale(x, self.scale, out)", new=b"out = torch.relu(x)"
    )
    evaluation = evaluate(forbidden, setting=setting, judge=judge)
    assert list_reached(evaluation) == ["rules"]
    assert evaluation.rules.status is RulesStatus.VIOLATION
