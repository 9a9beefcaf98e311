"""The same files are judged once, whoever hands them in; what the machine decided is judged again."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.agent.verdicts import (
    LateAdmission,
    RememberingEnvironment,
    Verdicts,
    build_admission,
    is_lasting,
)
from cuda_agent.environment.admission import Admission
from cuda_agent.environment.environment import Environment
from cuda_agent.environment.result import (
    BuildResult,
    BuildStatus,
    Evaluation,
    RulesResult,
    RulesStatus,
    Stage,
    Violation,
)
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import (
    ProfileResult,
    ProfileStatus,
    TaskResult,
    TaskStatus,
    VerifyResult,
    VerifyStatus,
)
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

FILES = {"model_new.py": b"import os\n", "kernels/k.cpp": b"int x;\n"}


def build_evaluation(
    rules: RulesStatus = RulesStatus.OK,
    build: BuildStatus | None = BuildStatus.OK,
    *,
    verify: VerifyStatus | None = None,
    profile: ProfileStatus | None = None,
    task: TaskStatus = TaskStatus.OK,
) -> Evaluation:
    return Evaluation(
        task_id="t", submission_sha="0", target=Target.CPU, policy="strict", task=TaskResult(status=task),
        rules=RulesResult(status=rules),
        build=BuildResult(status=build) if build else None,
        verify=VerifyResult(status=verify) if verify else None,
        profile=ProfileResult(status=profile) if profile else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("evaluation", "expected"),
    [
        (build_evaluation(RulesStatus.VIOLATION, None), True),
        (build_evaluation(build=BuildStatus.COMPILE_ERROR), True),
        (build_evaluation(build=BuildStatus.TIMED_OUT), False),
        (build_evaluation(verify=VerifyStatus.MISMATCH), True),
        (build_evaluation(verify=VerifyStatus.CRASHED), False),
        (build_evaluation(verify=VerifyStatus.OK, profile=ProfileStatus.OK), True),
        (build_evaluation(verify=VerifyStatus.OK, profile=ProfileStatus.CLOCK_DISPUTED), False),
        (build_evaluation(task=TaskStatus.FAULTY), False),
    ],
)
def test_only_what_would_be_found_again_is_kept(
    evaluation: Evaluation, expected: bool, tmp_path: Path
) -> None:
    assert is_lasting(evaluation) is expected
    verdicts = Verdicts(tmp_path)
    verdicts.keep("name", evaluation)
    with verdicts.claim("name") as found:
        assert found == (evaluation if expected else None)


def test_a_damaged_verdict_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "name.json").write_text("{")
    with Verdicts(tmp_path).claim("name") as found:
        assert found is None


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="verdicts cannot be kept in "):
        Verdicts(tmp_path / "file").claim("name").__enter__()


def test_two_that_hand_in_the_same_at_once_wait_for_one_judgement(tmp_path: Path) -> None:
    verdicts, judged = Verdicts(tmp_path), list[int]()
    both_there = threading.Barrier(2)

    def hand_in(number: int) -> None:
        both_there.wait()
        with verdicts.claim("name") as found:
            if found is None:
                judged.append(number)
                verdicts.keep("name", build_evaluation())

    threads = [threading.Thread(target=hand_in, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(judged) == 1


@pytest.fixture
def open_environment(
    tiny_task: Task, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], RememberingEnvironment]:
    """Environments of one task with one memory, whose judge counts how often it is asked."""
    asked = tmp_path / "asked"

    def judge(self: Environment, submission: Submission, *, until: Stage = Stage.PROFILE) -> Evaluation:
        with asked.open("a") as file:
            file.write(f"{until} {submission.sha[:8]}\n")
        return evaluate_before(self, submission, until=until)

    evaluate_before = Environment.judge_again
    monkeypatch.setattr(Environment, "judge_again", judge)
    return lambda: RememberingEnvironment(
        tiny_task,
        verdicts=Verdicts(tmp_path / "verdicts"),
        target=Target.CPU,
        sandbox=sandbox,
        policy=load_policy("strict"),
        folder=tmp_path / "run",
        admission=LateAdmission(1),
    )


def test_the_judge_is_asked_once_for_the_same_files(
    open_environment: Callable[[], RememberingEnvironment], tmp_path: Path
) -> None:
    submission = Submission(FILES)
    with open_environment() as first:
        found = first.judge_again(submission)
        assert found.verdict == "rules:violation"
        assert first.judge_again(submission) == found
        assert first.judge_again(submission, until=Stage.RULES).verdict == "rules:violation"
    with open_environment() as second:
        for path, text in FILES.items():
            second.workspace.write_text(path, text.decode())
        assert second.submit() == found
        assert second.submissions[0].evaluation == found
        second.judge_again(Submission(FILES | {"kernels/k.cpp": b"int y;\n"}))
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["profile", "rules", "profile"]


def test_files_that_could_not_be_taken_are_judged_each_time(
    open_environment: Callable[[], RememberingEnvironment], tmp_path: Path
) -> None:
    problem = Violation(file="kernels/k.cu", line=0, rule="files", reason="a link")
    with open_environment() as environment:
        for _ in range(2):
            environment.judge_again(Submission(FILES, problems=(problem,)))
    assert len((tmp_path / "asked").read_text().splitlines()) == 2


def test_judges_are_only_warmed_ahead_where_nothing_is_remembered(
    open_environment: Callable[[], RememberingEnvironment], tmp_path: Path
) -> None:
    assert type(build_admission(None)) is Admission
    late = build_admission(tmp_path)
    with open_environment() as environment:
        assert not late.claim(environment)
        with late.enter(environment):
            pass


def test_what_the_machine_decided_is_tried_again(
    tiny_task: Task, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disputed = build_evaluation(verify=VerifyStatus.OK, profile=ProfileStatus.CLOCK_DISPUTED)
    passed = build_evaluation(verify=VerifyStatus.OK, profile=ProfileStatus.OK)
    coming = [disputed, passed, disputed, disputed, disputed]
    monkeypatch.setattr(Environment, "judge_again", lambda *_, **__: coming.pop(0))
    environment = RememberingEnvironment(
        tiny_task, verdicts=Verdicts(tmp_path / "verdicts"), target=Target.CPU, sandbox=sandbox,
        policy=load_policy("strict"), folder=tmp_path / "run",
    )  # fmt: skip
    assert environment.judge_again(Submission(FILES)) == passed
    assert len(coming) == 3
    assert environment.judge_again(Submission(FILES)) == passed
    assert environment.judge_again(Submission(FILES | {"kernels/k.cpp": b""})) == disputed
    assert coming == []
