"""Is it right: hidden draws, compared in the judge's own process."""

import random
import secrets
from typing import Literal

from cuda_agent.judge.compare import Finding, Wanted, compare_form, compare_tensor
from cuda_agent.judge.guard import ForbiddenOperatorError
from cuda_agent.judge.inputs import VARIANTS
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.process import ChildError
from cuda_agent.judge.protocol import Call, CallMode, Contestant
from cuda_agent.judge.replies import Called
from cuda_agent.judge.result import VerifyResult, VerifyStatus
from cuda_agent.judge.session import CandidateError, Outputs, Session, TaskProcessError, draw_seeds
from cuda_agent.judge.tree import Node

_BY_STEP = {
    "load": VerifyStatus.LOAD_ERROR,
    "construct": VerifyStatus.CONSTRUCTOR_ERROR,
    "weights": VerifyStatus.WEIGHTS_ERROR,
    "forward": VerifyStatus.FORWARD_ERROR,
}
_REPLAY_REASONS = (
    "an earlier output changed after a later call (allocate outputs anew in forward): ",
    "the output did not follow a change of one element of each input: ",
    "the output did not follow two elements of each input that changed places: ",
    "the same inputs at another address, later, gave another output: ",
)

Step = Literal["load", "construct", "weights", "forward"]
"""How far a submission came."""


class Verifier:
    """One verification of a loaded submission."""

    def __init__(self, session: Session, arguments: Node, *, policy: JudgePolicy) -> None:
        """Nothing is checked yet."""
        self._session = session
        self._arguments = arguments
        self._policy = policy
        self._step: Step = "construct"
        self._draws = 0
        self._worst = 0.0

    def run(self) -> VerifyResult:
        """Compare with the reference on hidden draws, then look for ways to be right without working."""
        try:
            finding = self._check_draws() or self._check_rest() or self._check_decoy()
        except CandidateError as error:
            return describe_failure(error, self._step)
        except TaskProcessError as error:
            return VerifyResult(
                status=VerifyStatus.TASK_ERROR,
                reason=f"the reference failed: {error.reason}",
                detail=error.detail,
            )
        if finding is not None:
            return VerifyResult(
                status=finding.status, reason=finding.reason, mismatch=finding.mismatch, draws=self._draws
            )
        return VerifyResult(status=VerifyStatus.OK, draws=self._draws, max_error=self._worst)

    def _check_draws(self) -> Finding | None:
        """The first draw is the task's own distribution; the order of the others is secret."""
        variants = [0, *random.SystemRandom().sample(range(1, VARIANTS), VARIANTS - 1)]
        second = (self._policy.draws + 1) // 2 if self._policy.has(Layer.SECOND_INSTANCE) else 0
        for draw in range(self._policy.draws):
            if draw in (0, second):
                self._step = "construct"
                self._session.construct(self._arguments)
                self._step = "weights"
                self._session.draw_weights()
            self._step = "forward"
            self._session.draw_inputs(variants[draw % VARIANTS])
            is_last = draw == self._policy.draws - 1
            replays = is_last and self._policy.has(Layer.REPLAY)
            finding = self._check_replay() if replays else self._check_draw()
            self._session.drop(Contestant.CANDIDATE)
            if finding is not None:
                return finding
            self._draws += 1
        return None

    def _check_draw(self) -> Finding | None:
        expected = self._session.expect()
        self._session.stage(Contestant.CANDIDATE)
        called = self._call(1)
        return self._compare(expected, 0) or self._look_around(called, expected)

    def _look_around(self, called: Called, expected: Outputs) -> Finding | None:
        if called.inputs_changed and not expected.inputs_changed:
            return Finding(
                status=VerifyStatus.INPUTS_CHANGED,
                reason="forward wrote to its inputs, which the reference leaves alone: write to new tensors",
            )
        return find_left_threads(self._session) if self._policy.has(Layer.CENSUS) else None

    def _check_replay(self) -> Finding | None:
        """A draw that comes as it is, with one element of each input changed, with two swapped, as it is."""
        seed = secrets.randbits(60)
        expected = self._session.expect()
        self._session.stage(Contestant.CANDIDATE)
        for swaps in (False, True):
            self._session.perturb(seed, swaps=swaps)
            self._session.stage(Contestant.CANDIDATE)
        self._session.refresh(0)
        self._session.stage(Contestant.CANDIDATE)
        called = self._call(4)
        finding = (
            self._explain(self._compare(expected, 0), 0)
            or self._explain(self._compare(expected, 3), 3)
            or self._look_around(called, expected)
        )
        if finding is not None:
            return finding
        for index, swaps in ((1, False), (2, True)):
            self._session.perturb(seed, swaps=swaps)
            finding = self._explain(self._compare(self._session.expect(), index), index)
            if finding is not None:
                return finding
        return None

    def _explain(self, finding: Finding | None, which: int) -> Finding | None:
        if finding is None:
            return None
        return finding.model_copy(update={"reason": _REPLAY_REASONS[which] + finding.reason})

    def _check_rest(self) -> Finding | None:
        """When forward has returned and nothing is asked, nothing may be at work."""
        if not self._policy.has(Layer.CENSUS) or self._session.is_at_rest():
            return None
        return Finding(
            status=VerifyStatus.FORBIDDEN,
            reason="something of the submission is still at work long after forward has returned",
        )

    def _check_decoy(self) -> Finding | None:
        """With the kernels switched off, the right answer can only come from somewhere else."""
        if not self._policy.has(Layer.MUTE):
            return None
        self._session.refresh(draw_seeds(1)[0])
        expected = self._session.expect()
        self._session.stage(Contestant.CANDIDATE)
        self._session.mute(True)
        try:
            self._call(1)
            wrong = self._compare(expected, 0) is not None
        except CandidateError as error:
            if error.how != "failed":
                raise
            wrong = True
        self._session.mute(False)
        self._session.drop(Contestant.CANDIDATE)
        if wrong:
            return None
        return Finding(
            status=VerifyStatus.FORBIDDEN,
            reason="forward gives the right answer with its kernels switched off: they do not do the work",
        )

    def _call(self, calls: int) -> Called:
        request = Call(
            contestant=Contestant.CANDIDATE,
            mode=CallMode.CHECK,
            guarded=self._policy.has(Layer.GUARD),
            poisoned=self._policy.has(Layer.POISON),
        )
        return self._session.call(request, calls=calls)

    def _compare(self, expected: Outputs, index: int) -> Finding | None:
        finding = compare_output(self._session, expected, index=index, policy=self._policy)
        if finding.status is not VerifyStatus.OK:
            return finding
        self._worst = max(self._worst, finding.error)
        return None


def compare_output(session: Session, expected: Outputs, *, index: int, policy: JudgePolicy) -> Finding:
    """Compare one of the candidate's kept outputs with what is expected for its inputs."""
    node, tensors = session.collect(index)
    form = compare_form(expected.node, node)
    if form is not None:
        return form
    worst = 0.0
    for i, got in enumerate(tensors):
        finding = compare_tensor(
            got,
            Wanted(expected.exact[i], expected.eager[i], expected.free[i]),
            policy=policy,
            path="out" if len(tensors) == 1 else f"out[{i}]",
            reduction=max(expected.input_elements / max(got.numel(), 1), expected.longest_axis),
        )
        if finding.status is not VerifyStatus.OK:
            return finding
        worst = max(worst, finding.error)
    return Finding(status=VerifyStatus.OK, error=worst)


def check_sample(session: Session, seeds: list[int], *, policy: JudgePolicy) -> Finding:
    """Compare the kept output of one call, secretly chosen, with what its seed's inputs give."""
    index = secrets.randbelow(len(seeds))
    session.refresh(seeds[index])
    return compare_output(session, session.expect(), index=index, policy=policy)


def find_left_threads(session: Session) -> Finding | None:
    """Whether something is still running that was not there before the submission was loaded."""
    left = session.count_new_threads()
    if left <= 0:
        return None
    return Finding(
        status=VerifyStatus.FORBIDDEN,
        reason=f"{left} more threads or processes are there after forward than before the submission "
        f"was loaded: use no more OpenMP threads than there are cores, and start none of your own",
    )


def describe_failure(error: ChildError, step: Step) -> VerifyResult:
    """The result for a submission whose process failed at some step."""
    if error.how == "silent":
        reason = f"{step} did not finish: {error.reason}"
        return VerifyResult(status=VerifyStatus.TIMED_OUT, reason=reason, detail=error.detail)
    if error.how == "crashed":
        reason = f"during {step}, {error.reason}"
        return VerifyResult(status=VerifyStatus.CRASHED, reason=reason, detail=error.detail)
    status = VerifyStatus.FORBIDDEN if is_forbidden(error) else _BY_STEP[step]
    return VerifyResult(status=status, reason=error.reason, detail=error.detail)


def is_forbidden(error: ChildError) -> bool:
    """Whether the runner's guard refused an operator."""
    return error.reason.startswith(ForbiddenOperatorError.__name__)
