"""The whole room: a workspace whose commands, run in the sandbox, reach the judge outside."""

import dataclasses
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.environment import Environment
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyResult, VerifyStatus
from cuda_agent.judge.stopwatch import Stopwatch
from cuda_agent.sandbox.protocol import Completed, Limits, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


@pytest.fixture
def environment(sandbox: Sandbox, tiny_task: Task, tmp_path: Path) -> Iterator[Environment]:
    policy = load_policy("strict")
    with Environment(tiny_task, target=Target.CPU, sandbox=sandbox, policy=policy, folder=tmp_path) as opened:
        yield opened


def shell(environment: Environment, script: str) -> Completed:
    command = dataclasses.replace(
        environment.shell, argv=["/bin/sh", "-c", script, "sh", sys.executable], limits=Limits(wall_s=120)
    )
    return environment.setting.sandbox.run(command)


def ask(environment: Environment, verb: str) -> Completed:
    return shell(environment, f'"$1" -m cuda_agent.cli.main {verb}')


def fill(environment: Environment, submission: Submission) -> None:
    for path, content in submission.files.items():
        environment.workspace.write_text(path, content.decode())


def test_build_and_verify_from_inside(environment: Environment, submission: Submission) -> None:
    fill(environment, submission)
    built = ask(environment, "build")
    assert built.stdout.startswith("rules: ok\nbuild: ok ("), built
    assert built.returncode == 0
    verified = ask(environment, "verify")
    assert verified.returncode == 0, verified
    assert verified.stdout.splitlines()[-1].startswith("verify: ok (5 draws")
    assert environment.submissions == ()
    assert environment.company.judged_s > 0.0


def test_inspections_from_inside_leave_the_whole_report_in_the_workspace(
    environment: Environment, submission: Submission
) -> None:
    nothing = ask(environment, "inspect assembly")
    assert (nothing.returncode, nothing.stdout[:6]) == (1, "rules:")
    fill(environment, submission)
    seen = ask(environment, "inspect assembly")
    assert seen.returncode == 0, seen
    assert "relu_scale(" in seen.stdout
    assert seen.stdout.endswith("[all of it: inspections/assembly.txt]\n")
    assert "Disassembly of section" in environment.workspace.read_text("inspections/assembly.txt")
    refused = ask(environment, "inspect registers")
    assert refused.returncode == 2
    assert "registers is not for cpu; there are: vectors, assembly, counters" in refused.stdout
    assert environment.submissions == ()


def test_a_judge_that_was_cooled_starts_again_and_a_closed_one_does_not(
    environment: Environment, submission: Submission
) -> None:
    fill(environment, submission)
    assert environment.cool()
    assert environment.evaluate(Stage.BUILD).failed_stage is None
    evaluation = environment.evaluate(Stage.VERIFY)
    assert evaluation.verify is not None
    assert evaluation.failed_stage is None
    environment.__exit__(None, None, None)
    with pytest.raises(InfrastructureError, match="closed before"):
        environment.judge_again(submission)


def test_a_judge_at_work_is_not_cooled(
    environment: Environment, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(environment, submission)
    begun, go_on = threading.Event(), threading.Event()

    def examine(
        self: Judge, artifact: Artifact, *, profile: bool, watch: Stopwatch
    ) -> tuple[VerifyResult, None]:
        begun.set()
        assert go_on.wait(60.0)
        return VerifyResult(status=VerifyStatus.OK), None

    monkeypatch.setattr(Judge, "examine", examine)
    working = threading.Thread(target=environment.evaluate, args=(Stage.VERIFY,))
    working.start()
    assert begun.wait(60.0)
    assert not environment.cool()
    go_on.set()
    working.join(60.0)
    assert environment.cool()


def test_an_empty_workspace_fails_politely(environment: Environment, tmp_path: Path) -> None:
    submitted = ask(environment, "submit")
    assert submitted.returncode == 1
    assert submitted.stdout.startswith("rules: bad_files: model_new.py")
    assert submitted.stdout.endswith("reward: -1\n")
    judged = environment.submissions[0]
    saved = tmp_path / "submissions" / judged.submission.sha / "evaluation.json"
    assert Evaluation.model_validate_json(saved.read_text()) == judged.evaluation


def test_what_is_submitted_is_what_stood_there(
    environment: Environment, submission: Submission, tmp_path: Path
) -> None:
    fill(environment, submission)
    environment.workspace.write_text("kernels/relu_scale.cpp", "oops")
    assert ask(environment, "submit").returncode == 1
    judged = environment.submissions[0]
    assert judged.evaluation.failed_stage is Stage.BUILD
    assert judged.submission.files["kernels/relu_scale.cpp"] == b"oops"
    assert (
        tmp_path / "submissions" / judged.submission.sha / "kernels" / "relu_scale.cpp"
    ).read_text() == "oops"
    assert environment.judge_again(judged.submission).failed_stage is Stage.BUILD
    assert len(environment.submissions) == 1


def test_the_reference_and_the_skill_cannot_be_changed_from_inside(
    environment: Environment, tiny_task: Task
) -> None:
    if environment.setting.sandbox.containment.value != "bubblewrap":
        pytest.skip("only bubblewrap makes files read-only")
    shell(environment, "echo changed > model.py; rm -rf SKILL.md references; mv kernels k")
    assert environment.workspace.read_text("model.py") == tiny_task.source
    assert environment.workspace.read_text("SKILL.md").startswith("---")


def test_nothing_is_left_behind(sandbox: Sandbox, tiny_task: Task, tmp_path: Path) -> None:
    policy = load_policy("strict")
    with Environment(tiny_task, target=Target.CPU, sandbox=sandbox, policy=policy, folder=tmp_path) as opened:
        root = opened.workspace.root
        assert root.exists()
    assert not root.parent.exists()


LEAVE_S = 3.0
"""Far below what judging an endless kernel takes, even on a busy machine."""


def test_leaving_does_not_wait_for_a_command_that_is_being_judged(
    sandbox: Sandbox, tiny_task: Task, submission: Submission, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = b"for (volatile bool forever = true; forever;) {}\n#pragma omp"
    kernel = submission.files["kernels/relu_scale.cpp"].replace(b"#pragma omp", loop)
    judged = threading.Event()
    examine = Judge.examine

    def tell_and_examine(judge: Judge, artifact: Artifact, *, profile: bool, watch: Stopwatch) -> object:
        judged.set()
        return examine(judge, artifact, profile=profile, watch=watch)

    monkeypatch.setattr(Judge, "examine", tell_and_examine)
    policy = load_policy("strict")
    with Environment(tiny_task, target=Target.CPU, sandbox=sandbox, policy=policy, folder=tmp_path) as opened:
        fill(opened, Submission({**submission.files, "kernels/relu_scale.cpp": kernel}))
        asking = threading.Thread(target=ask, args=(opened, "verify"))
        asking.start()
        assert judged.wait(60)
        time.sleep(1)
        left = time.monotonic()
    assert time.monotonic() - left < LEAVE_S
    asking.join(10)
    assert not asking.is_alive()
