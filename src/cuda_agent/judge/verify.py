"""Is it right: hidden draws, compared in the judge's own process."""

import random
from typing import Literal

from cuda_agent.judge.compare import Finding, compare_form, compare_tensor
from cuda_agent.judge.inputs import VARIANTS
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.process import ChildError
from cuda_agent.judge.protocol import CallMode, Contestant
from cuda_agent.judge.result import VerifyResult, VerifyStatus
from cuda_agent.judge.session import CandidateError, Outputs, Session, TaskProcessError
from cuda_agent.judge.tree import Node

_BY_STEP = {
    "load": VerifyStatus.LOAD_ERROR,
    "construct": VerifyStatus.CONSTRUCTOR_ERROR,
    "weights": VerifyStatus.WEIGHTS_ERROR,
    "forward": VerifyStatus.FORWARD_ERROR,
}

Step = Literal["load", "construct", "weights", "forward"]
"""How far a submission came."""


def verify(session: Session, arguments: Node, *, policy: JudgePolicy) -> VerifyResult:
    """Compare a loaded submission with the reference on hidden draws.

    The first draw is the task's own distribution; the order of the others is secret. Half-way, a
    second instance with other weights takes over, so nothing kept from the first may answer for it.
    """
    variants = [0, *random.SystemRandom().sample(range(1, VARIANTS), VARIANTS - 1)]
    worst, step = 0.0, "construct"
    try:
        for draw in range(policy.draws):
            if draw in (0, (policy.draws + 1) // 2):
                step = "construct"
                session.construct(arguments)
                step = "weights"
                session.draw_weights()
            step = "forward"
            finding = check_draw(session, variants[draw % VARIANTS], policy=policy)
            if finding.status is not VerifyStatus.OK:
                return VerifyResult(
                    status=finding.status, reason=finding.reason, mismatch=finding.mismatch, draws=draw
                )
            worst = max(worst, finding.error)
    except CandidateError as error:
        return describe_failure(error, step)  # type: ignore[arg-type]
    except TaskProcessError as error:
        return VerifyResult(
            status=VerifyStatus.TASK_ERROR,
            reason=f"the reference failed: {error.reason}",
            detail=error.detail,
        )
    return VerifyResult(status=VerifyStatus.OK, draws=policy.draws, max_error=worst)


def check_draw(session: Session, variant: int, *, policy: JudgePolicy) -> Finding:
    """Draw inputs, call both sides once, compare."""
    session.draw_inputs(variant)
    expected = session.expect()
    session.stage(Contestant.CANDIDATE)
    called = session.call(Contestant.CANDIDATE, CallMode.CHECK, calls=1)
    finding = compare_output(session, expected, 0, policy=policy)
    session.drop(Contestant.CANDIDATE)
    if finding.status is VerifyStatus.OK and called.inputs_changed and not expected.inputs_changed:
        return Finding(
            status=VerifyStatus.INPUTS_CHANGED,
            reason="forward wrote to its inputs, which the reference leaves alone: write to new tensors",
        )
    return finding


def compare_output(session: Session, expected: Outputs, index: int, *, policy: JudgePolicy) -> Finding:
    """Compare one of the candidate's kept outputs with what is expected for its inputs."""
    node, tensors = session.collect(index)
    form = compare_form(expected.node, node)
    if form is not None:
        return form
    worst = 0.0
    for i, got in enumerate(tensors):
        finding = compare_tensor(
            got,
            expected.exact[i],
            expected.eager[i],
            policy=policy,
            path="out" if len(tensors) == 1 else f"out[{i}]",
            inputs=expected.input_elements,
        )
        if finding.status is not VerifyStatus.OK:
            return finding
        worst = max(worst, finding.error)
    return Finding(status=VerifyStatus.OK, error=worst)


def describe_failure(error: ChildError, step: Step) -> VerifyResult:
    """The result for a submission whose process failed at some step."""
    if error.how == "silent":
        reason = f"{step} did not finish: {error.reason}"
        return VerifyResult(status=VerifyStatus.TIMED_OUT, reason=reason, detail=error.detail)
    if error.how == "crashed":
        reason = f"during {step}, {error.reason}"
        return VerifyResult(status=VerifyStatus.CRASHED, reason=reason, detail=error.detail)
    return VerifyResult(status=_BY_STEP[step], reason=error.reason, detail=error.detail)
