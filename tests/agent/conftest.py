"""Evaluations to order."""

from collections.abc import Callable

import pytest

from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Ratio, Timing, VerifyResult, VerifyStatus
from cuda_agent.tasks.target import Target

BuildEvaluation = Callable[[str, float | None], Evaluation]


@pytest.fixture
def build_evaluation() -> BuildEvaluation:
    """From a submission's hash and its speed-up over both baselines; None is a mismatch."""

    def build(sha: str, speedup: float | None) -> Evaluation:
        status = VerifyStatus.MISMATCH if speedup is None else VerifyStatus.OK
        return Evaluation(
            task_id="t-0",
            submission_sha=sha,
            target=Target.CPU,
            policy="strict",
            rules=RulesResult(status=RulesStatus.OK),
            build=BuildResult(status=BuildStatus.OK),
            verify=VerifyResult(status=status),
            profile=None if speedup is None else build_profile(speedup),
        )

    return build


def build_profile(speedup: float) -> ProfileResult:
    timing = Timing(median_ms=1.0, calls_ms=(1.0,))
    ratio = Ratio(point=speedup, low=speedup * 0.99, high=speedup * 1.01)
    return ProfileResult(
        status=ProfileStatus.OK,
        candidate=timing,
        eager=timing,
        compiled=timing,
        over_eager=ratio,
        over_compiled=ratio,
    )
