"""How much faster than eager torch.compile is: measured once for a task on a machine, then kept.

Eager runs beside every submission, so that both see the same machine at the same moment; torch.compile,
whose compilation takes longer than all the rest, takes part only where the kept ratio does not decide:

    over_compiled = over_eager / (eager / compiled)

It is measured before a submission is loaded, which so cannot disturb it for those that follow. A ratio
that could not be told sharply is not kept, and one is forgotten when eager's time has drifted from it.
"""

import datetime
import hashlib
import os
import secrets
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.config import Record, find_cache
from cuda_agent.judge.device import collect_versions, describe_device
from cuda_agent.judge.inputs import NATURAL
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.process import ChildError, ChildProcess, count_threads
from cuda_agent.judge.protocol import (
    Call,
    CallMode,
    Compile,
    CompileMode,
    Contestant,
    DrawInputs,
    DrawWeights,
    Drop,
    Refresh,
    Stage,
    Wake,
)
from cuda_agent.judge.replies import Called, Described, Done
from cuda_agent.judge.result import Ratio, Timing
from cuda_agent.judge.statistics import build_timing, compute_ratio
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_TIMEOUT_S = 300.0
_SHARP = 1.04
"""An interval of which the upper end is so many times the lower needs no more rounds."""
_BLUNT = 1.3
"""One that is as wide as this is of no use."""
_DRIFT = 1.3
_SEED_BITS = 60
_LANES = (Contestant.EAGER, Contestant.COMPILED)

Times = dict[Contestant, list[tuple[float, ...]]]
"""Milliseconds of each call, by block, of each baseline."""


class Baseline(Record):
    """What is known of a task's two baselines on this machine."""

    eager: Timing
    """Eager's times."""
    compiled: Timing | None
    """torch.compile's times; None when it does not compile."""
    compiled_speedup: Ratio | None
    """How many times faster torch.compile is than eager; None when it does not compile."""
    compile_error: str
    """Why it does not compile, if it does not."""
    measured: str
    """When, in UTC."""

    @property
    def is_useful(self) -> bool:
        """Whether its ratio is told well enough to be kept."""
        return self.compiled_speedup is None or (
            self.compiled_speedup.high <= _BLUNT * self.compiled_speedup.low
        )

    def has_drifted(self, eager_ms: float) -> bool:
        """Whether eager now takes another time than then."""
        return not 1 / _DRIFT <= eager_ms / self.eager.median_ms <= _DRIFT

    def derive(self, over_eager: Ratio) -> Ratio | None:
        """A speed-up over torch.compile, from one over eager; at each end the less certain one counts."""
        speedup = self.compiled_speedup
        if speedup is None:
            return None
        return Ratio(
            point=over_eager.point / speedup.point,
            low=over_eager.low / speedup.high,
            high=over_eager.high / speedup.low,
        )


class BaselineStore:
    """Baselines kept in a folder, one file each, that any number of judges may use at once."""

    def __init__(self, folder: Path) -> None:
        """Keep them in `folder`."""
        self._folder = folder

    def find(self, key: str) -> Baseline | None:
        """What is kept under a key; a file that makes no sense counts as none."""
        try:
            return Baseline.model_validate_json(self._place(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, key: str, baseline: Baseline) -> None:
        """Keep it; a full or read-only disk costs time later, and nothing else."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(baseline.model_dump_json())
            Path(name).rename(self._place(key))

    def forget(self, key: str) -> None:
        """Keep it no longer."""
        self._place(key).unlink(missing_ok=True)

    def _place(self, key: str) -> Path:
        return self._folder / f"{key}.json"


class KeptBaseline:
    """What a judge knows of the baselines of its task."""

    def __init__(self, task: Task, target: Target, *, policy: JudgePolicy) -> None:
        """Look at nothing yet."""
        threads = count_threads()
        parts = (
            task.key,
            target,
            policy.precision,
            describe_device(target, threads=threads),
            collect_versions(target),
        )
        self._key = hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()
        self._store = BaselineStore(find_cache("baselines"))
        self._policy = policy
        self._known: Baseline | None = None

    def find(self) -> Baseline | None:
        """What is kept; None also where the policy wants torch.compile beside every submission."""
        if self._policy.keeps_baselines and self._known is None:
            self._known = self._store.find(self._key)
        return self._known

    def measure(self, reference: ChildProcess, *, set_bytes: int, memory_bytes: int) -> None:
        """Measure it with nobody beside, and keep it if it is of use.

        Args:
            reference: the task's process, opened.
            set_bytes: what inputs and outputs of one call take.
            memory_bytes: what those of a block may take.

        Raises:
            ChildError: the reference process failed.
        """
        calls = count_calls(self._policy, set_bytes=set_bytes, memory_bytes=memory_bytes)
        measured = measure_baseline(reference, policy=self._policy, calls=calls)
        if measured.is_useful:
            self._known = measured
            self._store.keep(self._key, measured)

    def forget(self) -> None:
        """Keep it no longer."""
        self._known = None
        self._store.forget(self._key)


def count_calls(policy: JudgePolicy, *, set_bytes: int, memory_bytes: int) -> int:
    """How many calls a block has: the policy's number, or fewer where their tensors need more memory."""
    return max(1, min(policy.block_calls, memory_bytes // max(set_bytes, 1)))


def measure_baseline(
    reference: ChildProcess, *, policy: JudgePolicy, calls: int, mode: CompileMode = CompileMode.DEFAULT
) -> Baseline:
    """Time both baselines of an opened task in alternating blocks of that many calls.

    Raises:
        ChildError: the reference process failed.
    """
    reference.ask(DrawWeights(seed=secrets.randbits(_SEED_BITS)), Described, timeout_s=_TIMEOUT_S)
    reference.ask(
        DrawInputs(seed=secrets.randbits(_SEED_BITS), variant=NATURAL), Described, timeout_s=_TIMEOUT_S
    )
    compile_error = _compile(reference, mode)
    lanes = _LANES[:1] if compile_error else _LANES
    for lane in lanes:
        _time_block(reference, lane, calls=policy.warmup_calls)
    times: Times = {lane: [] for lane in lanes}
    end = time.monotonic() + policy.rounds_s
    for count in range(policy.max_rounds):
        if count >= policy.rounds and (time.monotonic() > end or _is_sharp(times, policy)):
            break
        for lane in lanes if count % 2 == 0 else reversed(lanes):
            times[lane].append(_time_block(reference, lane, calls=calls))
    return _conclude(times, compile_error, policy=policy)


def _is_sharp(times: Times, policy: JudgePolicy) -> bool:
    speedup = _compare(times, policy)
    return speedup is None or speedup.high <= _SHARP * speedup.low


def _compare(times: Times, policy: JudgePolicy) -> Ratio | None:
    compiled = times.get(Contestant.COMPILED)
    return (
        compute_ratio(times[Contestant.EAGER], compiled, confidence=policy.confidence) if compiled else None
    )


def _conclude(times: Times, compile_error: str, *, policy: JudgePolicy) -> Baseline:
    compiled = times.get(Contestant.COMPILED)
    return Baseline(
        eager=build_timing(times[Contestant.EAGER]),
        compiled=build_timing(compiled) if compiled else None,
        compiled_speedup=_compare(times, policy),
        compile_error=compile_error,
        measured=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _compile(reference: ChildProcess, mode: CompileMode) -> str:
    try:
        reference.ask(Compile(mode=mode), Done, timeout_s=_TIMEOUT_S)
    except ChildError as error:
        if error.how != "failed":
            raise
        return error.reason
    return ""


def _time_block(reference: ChildProcess, lane: Contestant, *, calls: int) -> tuple[float, ...]:
    for _ in range(calls):
        reference.ask(Refresh(seed=secrets.randbits(_SEED_BITS) | 1), Done, timeout_s=_TIMEOUT_S)
        reference.ask(Stage(contestant=lane), Done, timeout_s=_TIMEOUT_S)
    reference.ask(Wake(), Done, timeout_s=_TIMEOUT_S)
    called = reference.ask(Call(contestant=lane, mode=CallMode.TIMED), Called, timeout_s=_TIMEOUT_S)
    reference.ask(Drop(contestant=lane), Done, timeout_s=_TIMEOUT_S)
    return called.calls_ms
