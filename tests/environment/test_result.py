"""An evaluation knows which stage failed, and survives being saved."""

import pytest

from cuda_agent.environment.result import (
    BuildResult,
    BuildStatus,
    Evaluation,
    RulesResult,
    RulesStatus,
    Stage,
)
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Timing, VerifyResult, VerifyStatus
from cuda_agent.tasks.target import Target

GOOD: dict[str, object] = {
    "rules": RulesResult(status=RulesStatus.OK),
    "build": BuildResult(status=BuildStatus.OK),
    "verify": VerifyResult(status=VerifyStatus.OK),
    "profile": ProfileResult(status=ProfileStatus.OK),
}
BAD: dict[str, object] = {
    "rules": RulesResult(status=RulesStatus.VIOLATION, reason="why"),
    "build": BuildResult(status=BuildStatus.LINK_ERROR, reason="why"),
    "verify": VerifyResult(status=VerifyStatus.CRASHED, reason="why"),
    "profile": ProfileResult(status=ProfileStatus.TIMED_OUT, reason="why"),
}

VERDICTS = {
    Stage.RULES: "rules:violation",
    Stage.BUILD: "build:link_error",
    Stage.VERIFY: "verify:crashed",
    Stage.PROFILE: "profile:timed_out",
}


def make(stages: dict[str, object]) -> Evaluation:
    return Evaluation.model_validate(
        {"task_id": "t", "submission_sha": "s", "target": Target.CPU, "policy": "strict", **stages}
    )


@pytest.mark.parametrize("stage", list(Stage))
def test_the_failed_stage_and_its_reason(stage: Stage) -> None:
    evaluation = make({**GOOD, stage.value: BAD[stage.value]})
    assert evaluation.failed_stage is stage
    assert evaluation.verdict == VERDICTS[stage]
    assert evaluation.reason == "why"


def test_nothing_failed() -> None:
    assert make(GOOD).failed_stage is None
    assert make(GOOD).verdict == "ok"
    assert make({"rules": GOOD["rules"]}).reason == ""


def test_saved_and_read_again() -> None:
    times = Timing(median_ms=0.3, calls_ms=(0.1, 0.3, 0.7))
    profile = ProfileResult(status=ProfileStatus.OK, candidate=times, wall_ms=float("inf"))
    evaluation = make({**GOOD, "profile": profile})
    assert Evaluation.model_validate_json(evaluation.model_dump_json()) == evaluation
