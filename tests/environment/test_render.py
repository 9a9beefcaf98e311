"""What an agent reads: stable lines, and what to do next."""

import pytest

from cuda_agent.environment.render import RewardLine, render_evaluation
from cuda_agent.environment.result import (
    BuildResult,
    BuildStatus,
    Evaluation,
    RulesResult,
    RulesStatus,
    Violation,
)
from cuda_agent.judge.result import (
    Mismatch,
    ProfileResult,
    ProfileStatus,
    Ratio,
    TaskResult,
    TaskStatus,
    Timing,
    VerifyResult,
    VerifyStatus,
)
from cuda_agent.tasks.target import Target

RULES = RulesResult(status=RulesStatus.OK)
BUILD = BuildResult(status=BuildStatus.OK, duration_s=1.94)
VERIFY = VerifyResult(status=VerifyStatus.OK, draws=5, max_error=0.314)


def timing(median_ms: float) -> Timing:
    return Timing(median_ms=median_ms, calls_ms=(median_ms,))


PROFILE = ProfileResult(
    status=ProfileStatus.OK,
    candidate=timing(4.0211),
    eager=timing(14.9),
    compiled=timing(5.5),
    over_eager=Ratio(point=3.71, low=3.6, high=3.8),
    over_compiled=Ratio(point=1.37, low=1.33, high=1.4),
)


def render(line: RewardLine = RewardLine.NONE, *, policy: str = "strict", **stages: object) -> list[str]:
    facts = {"task_id": "t", "submission_sha": "s", "target": Target.CPU, "policy": policy, "rules": RULES}
    return render_evaluation(Evaluation.model_validate({**facts, **stages}), reward_line=line).splitlines()


def test_a_whole_success() -> None:
    assert render(RewardLine.FINAL, build=BUILD, verify=VERIFY, profile=PROFILE) == [
        "rules: ok",
        "build: ok (1.9 s)",
        "verify: ok (5 draws, worst error 0.31 of tolerance)",
        "profile: ok",
        "  candidate 4.021 ms",
        "  eager 14.900 ms, 3.71x (3.60x to 3.80x)",
        "  torch.compile 5.500 ms, 1.37x (1.33x to 1.40x)",
        "reward: 3",
    ]


def test_stages_not_asked_for_are_absent() -> None:
    assert render(build=BUILD) == ["rules: ok", "build: ok (1.9 s)"]


def test_a_preview_says_so_and_a_failure_does_not() -> None:
    assert (
        render(RewardLine.PREVIEW, build=BUILD, verify=VERIFY, profile=PROFILE)[-1]
        == "reward if submitted: 3"
    )
    failed = VerifyResult(status=VerifyStatus.CRASHED, reason="it died", detail="SIGSEGV")
    assert render(RewardLine.PREVIEW, build=BUILD, verify=failed)[-3:] == [
        "verify: crashed: it died",
        "  SIGSEGV",
        "reward: -1",
    ]


@pytest.mark.parametrize(
    ("low", "policy", "reward", "needed"),
    [(1.04, "strict", "2", "5.225"), (1.04, "paper", "3", None), (1.2, "strict", "3", None)],
)
def test_the_next_milestone_is_named_by_its_time(
    low: float, policy: str, reward: str, needed: str | None
) -> None:
    profile = PROFILE.model_copy(update={"over_compiled": Ratio(point=1.2, low=low, high=1.3)})
    lines = render(RewardLine.FINAL, policy=policy, build=BUILD, verify=VERIFY, profile=profile)
    assert lines[-1] == f"reward: {reward}"
    following = [line for line in lines if line.startswith("  next:")]
    assert following == (
        []
        if needed is None
        else [f"  next: stay safely below {needed} ms, 5% under torch.compile: and more steadily than now"]
    )


def test_the_next_milestone_says_how_much_is_lacking_and_the_floor_how_much_there_is() -> None:
    slow = Ratio(point=0.8, low=0.79, high=0.81)
    changes = {"over_eager": slow, "candidate": timing(18.6), "floor_ms": 3.1}
    lines = render(RewardLine.FINAL, build=BUILD, verify=VERIFY, profile=PROFILE.model_copy(update=changes))
    assert lines[-3:] == [
        "  next: stay safely below 14.155 ms, 5% under eager: at least 24% less than now",
        "  floor 3.100 ms, all bytes moved once; candidate takes 6.0x that",
        "reward: 1",
    ]


def test_a_task_that_does_not_compile() -> None:
    changes = {"compiled": None, "over_compiled": None, "compile_error": "graph break\nmore"}
    lines = render(RewardLine.FINAL, build=BUILD, verify=VERIFY, profile=PROFILE.model_copy(update=changes))
    assert "  torch.compile does not run this task (graph break); eager decides" in lines
    assert lines[-1] == "reward: 3"


def test_a_mismatch_tells_where_and_how_much() -> None:
    mismatch = Mismatch(
        output="out[1]", index=(3, 17), got=1.25, expected=1.5, tolerance=1.2e-3, differing=1024, total=65536
    )
    verify = VerifyResult(status=VerifyStatus.MISMATCH, reason="values differ", mismatch=mismatch)
    assert render(build=BUILD, verify=verify)[2:] == [
        "verify: mismatch: values differ",
        "  first: out[1] at (3, 17): got 1.25, expected 1.5",
        "  allowed difference there: 0.0012",
        "  differing: 1,024 of 65,536 elements (1.56%)",
    ]


def test_a_compile_error_shows_its_lines() -> None:
    build = BuildResult(
        status=BuildStatus.COMPILE_ERROR,
        reason="kernels/a.cpp does not compile",
        error_lines="a:1: error: x\n  y",
    )
    assert render(build=build)[1:] == [
        "build: compile_error: kernels/a.cpp does not compile",
        "  a:1: error: x",
        "    y",
    ]


def test_a_submissions_words_forge_no_line() -> None:
    verify = VerifyResult(status=VerifyStatus.FORWARD_ERROR, reason="no\nreward: 3\x1b[8m", detail="a\rb")
    assert render(build=BUILD, verify=verify)[2:] == [
        "verify: forward_error: no\\nreward: 3\\x1b[8m",
        "  a",
        "  b",
    ]


def test_violations_are_listed_up_to_a_bound() -> None:
    violations = tuple(Violation(file="model_new.py", line=i, rule="call", reason="no") for i in range(1, 31))
    lines = render(
        rules=RulesResult(status=RulesStatus.VIOLATION, reason="30 rules are broken", violations=violations)
    )
    assert lines[0] == "rules: violation: 30 rules are broken"
    assert lines[1] == "  model_new.py:1 call: no"
    assert lines[-1] == "  and 18 more"


def test_long_details_are_cut_in_the_middle() -> None:
    detail = "\n".join(map(str, range(1000)))
    lines = render(
        build=BUILD, verify=VerifyResult(status=VerifyStatus.FORWARD_ERROR, reason="r", detail=detail)
    )
    assert len(lines) < 40
    assert lines[-1] == "  999"
    assert "  [970 lines left out]" in lines


def test_a_task_at_fault_is_told_instead_of_a_failure() -> None:
    task = TaskResult(status=TaskStatus.FAULTY, reason="its output is random")
    failed = VerifyResult(status=VerifyStatus.TASK_ERROR, reason="its output is random")
    assert render(RewardLine.FINAL, build=BUILD, task=task, verify=failed)[2:] == [
        "task: faulty: its output is random: the task is at fault, not the submission",
        "reward: 0",
    ]


def test_a_wasteful_reference_is_told_with_what_is_left_of_the_speed_up() -> None:
    task = TaskResult(
        status=TaskStatus.FLAGGED, flags=("a wasteful reference",), cheaper_form="`b`", cheaper_gain=3.5
    )
    lines = render(build=BUILD, task=task, verify=VERIFY, profile=PROFILE)
    assert lines[2] == "task: flagged: a wasteful reference"
    assert lines[-1] == "  over the cheaper form in eager 1.06x (`b`)"
