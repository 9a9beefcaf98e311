"""How fast is it: blocks of timed calls on fresh values, then an audit by the judge's own clock."""

import random
import secrets
import time
from typing import NamedTuple

from cuda_agent.judge.audit import Audit, Block, is_clock_slow
from cuda_agent.judge.baseline import Baseline
from cuda_agent.judge.compare import Finding
from cuda_agent.judge.inputs import NATURAL
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.protocol import Call, CallMode, Contestant
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Ratio, Timing, VerifyStatus
from cuda_agent.judge.session import CandidateError, Session, TaskProcessError, draw_seeds
from cuda_agent.judge.statistics import build_timing, compute_ratio
from cuda_agent.judge.verify import check_sample, find_left_threads, is_forbidden

MARGIN_RATIO = 1.0 / (1.0 - 0.05)
"""A ratio above this beats its baseline by more than 5 %."""

_NEAR = 1.1
"""An interval that keeps this far from the margin needs no more rounds."""
_SAMPLES = 3
_FEW = 8
"""With so many times fewer outputs than inputs, inputs are drawn anew for every round and batch."""
_AUDIT_CALLS = 128


class Facts(NamedTuple):
    """What the machine is."""

    device: str
    """Its name."""
    versions: dict[str, str]
    """Versions of what matters."""
    copy_gb_per_s: float
    """Copy bandwidth, bytes read plus bytes written."""
    memory_bytes: int
    """How much staged inputs and kept outputs may take."""


class Profiler:
    """One profile of a verified submission."""

    def __init__(
        self, session: Session, *, policy: JudgePolicy, facts: Facts, baseline: Baseline | None = None
    ) -> None:
        """Nothing is timed yet; `baseline` is what is known of torch.compile's ratio to eager."""
        self.has_drifted = False
        self._session = session
        self._policy = policy
        self._facts = facts
        self._baseline = baseline
        self._times: dict[Contestant, list[tuple[float, ...]]] = {}
        self._block_calls = policy.block_calls
        self._sampled = 0
        self._redraws = False
        self._blocks: list[Block] = []

    def run(self) -> ProfileResult:
        """Time all contestants, check sampled outputs, audit the clock; a failure is a status."""
        try:
            return self._run()
        except CandidateError as error:
            status = {
                "failed": ProfileStatus.FORBIDDEN if is_forbidden(error) else ProfileStatus.FAILED,
                "crashed": ProfileStatus.CRASHED,
                "silent": ProfileStatus.TIMED_OUT,
            }[error.how]
            return ProfileResult(status=status, reason=error.reason, detail=error.detail)
        except TaskProcessError as error:
            reason = f"a baseline failed: {error.reason}"
            return ProfileResult(status=ProfileStatus.BASELINE_ERROR, reason=reason, detail=error.detail)

    def _run(self) -> ProfileResult:
        self._session.draw_inputs(variant=NATURAL)
        expected = self._session.expect()
        set_bytes = sum(
            leaf.nbytes for leaf in expected.node.list_tensors() + self._session.inputs.list_tensors()
        )
        self._block_calls = max(
            1, min(self._policy.block_calls, self._facts.memory_bytes // max(set_bytes, 1))
        )
        inputs, outputs = self._session.inputs.list_tensors(), expected.node.list_tensors()
        # What a reduction gives for values that are rotated and scaled can be told from a few of them.
        self._redraws = _FEW * sum(leaf.nbytes for leaf in outputs) < sum(leaf.nbytes for leaf in inputs)
        compile_error = self._open_lanes()
        finding = self._run_rounds()
        if finding is None and self._baseline is not None and not self._is_decided(self._baseline):
            self._baseline = None
            compile_error = self._open_lanes()
            finding = self._run_rounds()
        if finding is not None:
            return self._report_wrong(finding)
        return self._conclude(compile_error)

    def _is_decided(self, baseline: Baseline) -> bool:
        """Whether what is kept of torch.compile tells on which side of the margin the submission is."""
        self.has_drifted = baseline.has_drifted(build_timing(self._times[Contestant.EAGER]).median_ms)
        over_compiled = baseline.derive(self._ratio(Contestant.EAGER))
        return not self.has_drifted and (over_compiled is None or not _straddles(over_compiled, 1.0))

    def _report_wrong(self, finding: Finding) -> ProfileResult:
        if finding.status is VerifyStatus.FORBIDDEN:
            return ProfileResult(status=ProfileStatus.FORBIDDEN, reason=finding.reason)
        return ProfileResult(
            status=ProfileStatus.WRONG_WHEN_TIMED, reason=f"a timed output is wrong: {finding.reason}"
        )

    def _open_lanes(self) -> str:
        """Warm everybody who takes part; why torch.compile does not, if it cannot."""
        lanes = [Contestant.CANDIDATE, Contestant.EAGER]
        compile_error = self._baseline.compile_error if self._baseline else self._compile()
        if self._baseline is None and not compile_error:
            lanes.append(Contestant.COMPILED)
        self._times = {lane: [] for lane in lanes}
        self._call_guarded()
        for lane in lanes[1:]:
            self._time_block(lane, self._policy.warmup_calls)
        return compile_error

    def _compile(self) -> str:
        try:
            self._session.compile()
        except TaskProcessError as error:
            if error.how != "failed":
                raise
            return error.reason
        return ""

    def _call_guarded(self) -> None:
        """A block that is not counted, and looks like any other timed one, but for the guard."""
        guarded = self._policy.has(Layer.GUARD)
        self._time_block(Contestant.CANDIDATE, self._policy.warmup_calls, guarded=guarded)

    def _run_rounds(self) -> Finding | None:
        lanes = list(self._times)
        samples = min(_SAMPLES, self._policy.rounds)
        sampled = set(random.SystemRandom().sample(range(self._policy.rounds), samples))
        sampled |= set(range(self._policy.rounds, self._policy.max_rounds))
        if not self._policy.has(Layer.TIMED_SAMPLES):
            sampled.clear()
        guarded = secrets.randbelow(self._policy.rounds)
        end = time.monotonic() + self._policy.rounds_s
        for count in range(self._policy.max_rounds):
            if count >= self._policy.rounds and self._is_enough(is_late=time.monotonic() >= end):
                break
            if self._redraws:
                self._session.draw_inputs(variant=NATURAL)
            if count == guarded:
                self._call_guarded()
            for lane in lanes if count % 2 == 0 else reversed(lanes):
                seeds, calls_ms = self._time_block(lane, self._block_calls, keep=True)
                self._times[lane].append(calls_ms)
                if lane is Contestant.CANDIDATE:
                    finding = self._look_at_block(seeds, is_sampled=count in sampled)
                    if finding is not None:
                        return finding
                self._session.drop(lane)
        return None

    def _look_at_block(self, seeds: list[int], *, is_sampled: bool) -> Finding | None:
        if self._policy.has(Layer.CENSUS) and (left := find_left_threads(self._session)):
            return left
        if not is_sampled:
            return None
        self._sampled += 1
        finding = check_sample(self._session, seeds, policy=self._policy)
        return None if finding.status is VerifyStatus.OK else finding

    def _time_block(
        self, lane: Contestant, calls: int, *, keep: bool = False, guarded: bool = False
    ) -> tuple[list[int], tuple[float, ...]]:
        seeds = self._stage(lane, calls)
        self._session.wake(lane)
        request = Call(contestant=lane, mode=CallMode.TIMED, guarded=guarded)
        start_ns = time.monotonic_ns()
        called = self._session.call(request, calls=calls)
        if lane is Contestant.CANDIDATE:
            seen_ms = (time.monotonic_ns() - start_ns) / 1e6
            self._blocks.append(Block(seen_ms=seen_ms, told_ms=called.block_ms))
        if not keep:
            self._session.drop(lane)
        if len(called.calls_ms) != calls or not all(
            0 < call_ms < float("inf") for call_ms in called.calls_ms
        ):
            raise CandidateError("failed", "the runner reported impossible times")
        return seeds, called.calls_ms

    def _stage(self, lane: Contestant, calls: int) -> list[int]:
        seeds = draw_seeds(calls)
        for seed in seeds:
            self._session.refresh(seed)
            self._session.stage(lane)
        return seeds

    def _is_enough(self, *, is_late: bool) -> bool:
        """Whether no interval holds the margin, or before its time comes near it."""
        ratios = [self._ratio(lane) for lane in self._times if lane is not Contestant.CANDIDATE]
        return not any(_straddles(ratio, 1.0 if is_late else _NEAR) for ratio in ratios)

    def _ratio(self, baseline: Contestant) -> Ratio:
        return compute_ratio(
            self._times[baseline], self._times[Contestant.CANDIDATE], confidence=self._policy.confidence
        )

    def _conclude(self, compile_error: str) -> ProfileResult:
        candidate = build_timing(self._times[Contestant.CANDIDATE])
        eager = build_timing(self._times[Contestant.EAGER])
        compiled, over_compiled = self._time_compiled()
        audit = Audit(
            self._session,
            candidate_ms=candidate.median_ms,
            eager_ms=eager.median_ms,
            policy=self._policy,
            redraws=self._redraws,
        ).run(calls=min(_AUDIT_CALLS, max(1, self._facts.memory_bytes // max(self._measure_set_bytes(), 1))))
        if audit.finding is not None:
            return self._report_wrong(audit.finding)
        result = ProfileResult(
            status=ProfileStatus.OK,
            candidate=candidate,
            eager=eager,
            compiled=compiled,
            over_eager=self._ratio(Contestant.EAGER),
            over_compiled=over_compiled,
            compiled_measured=self._baseline.measured if self._baseline else "",
            compile_error=compile_error,
            sampled=self._sampled,
            wall_ms=audit.judged_ms,
            floor_ms=self._compute_floor_ms(),
            device=self._facts.device,
            versions=self._facts.versions,
            method=self._describe_method(),
        )
        return self._quarantine(result, candidate.median_ms, agreed=audit.agrees)

    def _time_compiled(self) -> tuple[Timing | None, Ratio | None]:
        """torch.compile's times, and the speed-up over it: kept ones, taken here, or none."""
        if self._baseline is not None:
            return self._baseline.compiled, self._baseline.derive(self._ratio(Contestant.EAGER))
        times = self._times.get(Contestant.COMPILED)
        return (build_timing(times), self._ratio(Contestant.COMPILED)) if times else (None, None)

    def _quarantine(self, result: ProfileResult, claimed_ms: float, *, agreed: bool) -> ProfileResult:
        if is_clock_slow(self._blocks) and self._policy.has(Layer.CLOCK):
            return result.model_copy(
                update={
                    "status": ProfileStatus.CLOCK_DISPUTED,
                    "reason": "most timed blocks took longer by the judge's clock than by the runner's: "
                    "the clock was touched; if not, this machine was busy: try again",
                }
            )
        if not agreed and self._policy.has(Layer.CLOCK):
            return result.model_copy(
                update={
                    "status": ProfileStatus.CLOCK_DISPUTED,
                    "reason": f"the runner claims {claimed_ms:.4g} ms a call, the judge's clock says "
                    f"{result.wall_ms:.4g} ms: work is done before forward starts or after it "
                    f"returns, or the clock was touched; if not, this machine was busy: try again",
                }
            )
        written_ms = self._compute_floor_ms(outputs_only=True)
        eager_ms = build_timing(self._times[Contestant.EAGER]).median_ms
        # An output that eager itself returns faster than it could be written is an expanded view.
        really_written = eager_ms >= written_ms
        if really_written and claimed_ms < 0.5 * written_ms and self._policy.has(Layer.ROOFLINE):
            return result.model_copy(
                update={
                    "status": ProfileStatus.BELOW_ROOFLINE,
                    "reason": f"{claimed_ms:.4g} ms is less than this device needs to write the "
                    f"outputs ({written_ms:.4g} ms)",
                }
            )
        return result

    def _measure_set_bytes(self) -> int:
        return sum(
            leaf.nbytes for leaf in self._session.outputs.list_tensors() + self._session.inputs.list_tensors()
        )

    def _compute_floor_ms(self, *, outputs_only: bool = False) -> float:
        leaves = self._session.outputs.list_tensors()
        if not outputs_only:
            leaves = leaves + self._session.inputs.list_tensors()
        return sum(leaf.nbytes for leaf in leaves) / self._facts.copy_gb_per_s / 1e6

    def _describe_method(self) -> str:
        rounds = len(self._times[Contestant.CANDIDATE])
        return (
            f"{rounds} rounds of {self._block_calls} calls for each contestant, alternating order, fresh "
            f"values and addresses for every call, caches flushed, medians, "
            f"{self._policy.confidence:.0%} bootstrap interval, policy {self._policy.name}"
        )


def _straddles(ratio: Ratio, near: float) -> bool:
    """Whether an interval holds the margin, or comes nearer to it than by that factor."""
    return ratio.low <= MARGIN_RATIO * near and MARGIN_RATIO / near <= ratio.high
