"""An evaluation becomes a record: with numbers when it is correct, with a status when it is not."""

import pytest

from cuda_agent.bench.record import BenchRecord, Flag, RecordStatus, add_flags, build_record
from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.judge.result import (
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

REFUSALS = (
    (VerifyStatus.TASK_ERROR, TaskStatus.FAULTY),
    (VerifyStatus.TASK_ERROR, TaskStatus.FAILED),
    (VerifyStatus.DOES_NOT_FIT, TaskStatus.DOES_NOT_FIT),
)
"""How an evaluation ends whose task is not judged."""


def time_it(milliseconds: float) -> Timing:
    return Timing(median_ms=milliseconds, calls_ms=(milliseconds,))


def profile(**changes: object) -> ProfileResult:
    found = ProfileResult(
        status=ProfileStatus.OK,
        candidate=time_it(1.0),
        eager=time_it(4.0),
        compiled=time_it(2.0),
        over_eager=Ratio(point=4.0, low=3.9, high=4.1),
        over_compiled=Ratio(point=2.0, low=1.9, high=2.1),
        floor_ms=0.8,
        device="a device",
    )
    return found.model_copy(update=changes)


def evaluate(
    *,
    build: BuildStatus = BuildStatus.OK,
    verify: VerifyStatus | None = VerifyStatus.OK,
    profiled: ProfileResult | None = None,
    policy: str = "strict",
    task: TaskResult | None = None,
) -> Evaluation:
    return Evaluation(
        task_id="10_relu-00000000",
        submission_sha="sha",
        target=Target.CPU,
        policy=policy,
        task=task,
        rules=RulesResult(status=RulesStatus.OK),
        build=BuildResult(status=build),
        verify=None if verify is None else VerifyResult(status=verify, reason="why"),
        profile=profiled,
    )


def record(evaluation: Evaluation) -> BenchRecord:
    return build_record(evaluation, place="level1/10_relu", level=1, problem=10, policy="p")


def test_a_correct_one_has_its_numbers() -> None:
    found = record(evaluate(profiled=profile()))
    assert (found.task_id, found.level, found.problem) == ("10_relu-00000000", 1, 10)
    assert found.status is RecordStatus.CORRECT
    assert (found.candidate_ms, found.eager_ms, found.compiled_ms) == (1.0, 4.0, 2.0)
    assert found.share_of_floor == 0.8
    assert found.flags == ()


@pytest.mark.parametrize(
    ("evaluation", "status"),
    [
        (evaluate(build=BuildStatus.COMPILE_ERROR, verify=None), RecordStatus.FAILED),
        (evaluate(verify=VerifyStatus.MISMATCH), RecordStatus.FAILED),
        *(
            (evaluate(verify=verify, task=TaskResult(status=status)), RecordStatus.TASK_ERROR)
            for verify, status in REFUSALS
        ),
        (evaluate(verify=VerifyStatus.TASK_ERROR, task=TaskResult()), RecordStatus.FAILED),
        (evaluate(), RecordStatus.UNTIMED),
        *(
            (evaluate(profiled=ProfileResult(status=status)), expected)
            for status, expected in {
                ProfileStatus.CRASHED: RecordStatus.UNTIMED,
                ProfileStatus.TIMED_OUT: RecordStatus.UNTIMED,
                ProfileStatus.FAILED: RecordStatus.UNTIMED,
                ProfileStatus.BASELINE_ERROR: RecordStatus.UNTIMED,
                ProfileStatus.BELOW_ROOFLINE: RecordStatus.QUARANTINED,
                ProfileStatus.CLOCK_DISPUTED: RecordStatus.QUARANTINED,
                ProfileStatus.WRONG_WHEN_TIMED: RecordStatus.QUARANTINED,
                ProfileStatus.FORBIDDEN: RecordStatus.QUARANTINED,
            }.items()
        ),
    ],
)
def test_any_other_has_a_status_and_no_number(evaluation: Evaluation, status: RecordStatus) -> None:
    found = record(evaluation)
    assert found.status is status
    assert (found.over_eager, found.over_compiled, found.candidate_ms) == (None, None, None)


def test_where_nothing_compiles_eager_stands_in_and_a_flag_says_so() -> None:
    found = record(evaluate(profiled=profile(compiled=None, over_compiled=None)))
    assert found.over_compiled == found.over_eager
    assert found.flags == (Flag.NO_COMPILE,)


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"compiled": time_it(5.0)}, Flag.SLOW_COMPILE),
        ({"over_compiled": Ratio(point=1.06, low=1.04, high=1.08)}, Flag.WIDE_INTERVAL),
        ({"floor_ms": 0.3}, Flag.WASTEFUL_REFERENCE),
    ],
)
def test_what_a_reader_should_know_is_flagged(changes: dict[str, object], flag: Flag) -> None:
    assert record(evaluate(profiled=profile(**changes))).flags == (flag,)


def test_the_paper_policy_is_flagged() -> None:
    flags = record(evaluate(profiled=profile(), policy="paper")).flags
    assert flags == (Flag.LOOSE_PRECISION, Flag.FIXED_TOLERANCE)
    again = add_flags(record(evaluate(profiled=profile())), Flag.GATE, Flag.GATE)
    assert again.flags == (Flag.GATE,)


def test_a_task_at_fault_says_so_and_blames_no_one() -> None:
    refused = TaskResult(status=TaskStatus.FAULTY, reason="zeros would pass for its output")
    evaluation = evaluate(verify=VerifyStatus.TASK_ERROR, task=refused)
    assert evaluation.is_task_at_fault
    found = record(evaluation)
    assert (found.status, found.flags) == (RecordStatus.TASK_ERROR, (Flag.GATE,))
    assert found.gate_reason == "zeros would pass for its output"


def test_what_the_judge_flags_of_a_task_is_kept() -> None:
    flagged = TaskResult(
        status=TaskStatus.FLAGGED, flags=("a wasteful reference",), cheaper_form="a sum", cheaper_gain=3.0
    )
    found = record(evaluate(profiled=profile(), task=flagged))
    assert (found.status, found.flags) == (RecordStatus.CORRECT, (Flag.WASTEFUL_REFERENCE,))
    assert found.notes == ("a wasteful reference",)
