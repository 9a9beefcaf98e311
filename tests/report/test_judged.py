"""A judge did its duty when no cheat is paid more than honest work and each honest kernel passes."""

import pytest

from cuda_agent.report.judged import CaseResult, TimedEvaluation
from cuda_agent.tasks.target import Target


@pytest.mark.parametrize(
    ("corpus", "verdict", "is_right", "is_sound"),
    [
        ("hacks", "verify:mismatch", True, True),
        ("hacks", "verify:crashed", False, True),
        ("hacks", "ok", True, True),
        ("hacks", "ok", False, False),
        ("honest", "ok", True, True),
        ("honest", "verify:crashed", False, False),
    ],
)
def test_a_judge_does_its_duty(corpus: str, verdict: str, *, is_right: bool, is_sound: bool) -> None:
    case = CaseResult(
        corpus=corpus,
        name="case",
        kind="replay",
        mechanism="",
        source="own",
        target=Target.CPU,
        expect=("ok",),
        verdict=verdict,
        reward=1.0,
        is_right=is_right,
        reason="",
        seconds=1.0,
    )
    assert case.is_sound is is_sound


def test_the_first_evaluation_of_a_task_opens_it() -> None:
    opens = {item: TimedEvaluation(item=item, verdict="ok", at_s=1.0).opens_task for item in ("a/0", "a/10")}
    assert opens == {"a/0": True, "a/10": False}
