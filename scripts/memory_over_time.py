"""What memory a pool holds over many evaluations, and whether it grows.

    python -m scripts.memory_over_time OUT.jsonl --count 1000

Evaluates honest and crashing submissions of tests/ on the cpu target in turn, over the pool that
`cuda-agent evaluate` uses. Every --every seconds a line is written: seconds, evaluations done, processes, and
the resident bytes (as /proc counts them, shared pages in each process) of this process, of the pool's workers
and of all that they started. At the end a verdict for each: the slope of memory over the evaluations, with
its 95 % interval; it grows where the interval lies above zero and 10,000 evaluations would take 100 MiB.
"""

import argparse
import itertools
import math
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cuda_agent.config import Record
from cuda_agent.environment.evaluator import SERVED, make_item
from cuda_agent.judge.census import find_processes_below
from cuda_agent.rundir import read_records
from cuda_agent.scratch import keep_scratch
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.workers.devices import plan_local_workers
from cuda_agent.workers.item import WorkItem
from cuda_agent.workers.worker_pool import WorkerPool
from tests.judge_cases import HACKS, HONEST, find_task, freeze_case, load_case

CASES = (HONEST / "float_lanes", HACKS / "null_written", HONEST / "online_softmax", HACKS / "aborted")
WARM_UP = 0.2
"""Share of the evaluations before which memory may still grow: caches fill."""
WINDOWS = 20
"""Samples that lie close together hang together: what counts is the median of each of so many windows."""
T_QUANTILE = 2.101
"""Of Student's distribution with WINDOWS - 2 degrees of freedom, at 97.5 %."""
MANY = 10_000
LIMIT_BYTES = 100 << 20


class Sample(Record):
    """What is held at one time."""

    seconds: float
    """Since the start."""
    done: int
    """Evaluations that have ended."""
    processes: int
    """How many there are, ours included."""
    own_bytes: int
    """Resident in this process."""
    workers_bytes: int
    """Resident in the pool's workers, which live as long as the pool."""
    started_bytes: int
    """Resident in what the workers started."""


class Slope(NamedTuple):
    """How memory follows the number of evaluations."""

    bytes_each: float
    """Least squares, bytes for each evaluation."""
    error: float
    """Half of its 95 % interval."""

    @property
    def grows(self) -> bool:
        """Whether it grows for sure, and so much that it matters."""
        return self.bytes_each - self.error > 0.0 and MANY * self.bytes_each > LIMIT_BYTES


def fit_slope(done: Sequence[float], held_bytes: Sequence[float]) -> Slope:
    """A line through the medians of windows of equal size.

    Raises:
        ValueError: there are fewer samples than windows.
    """
    if len(done) < WINDOWS:
        raise ValueError(
            f"{len(done)} samples are too few for {WINDOWS} windows: more evaluations, or less --every"
        )
    edges = [round(len(done) * number / WINDOWS) for number in range(WINDOWS + 1)]
    windows = [slice(a, b) for a, b in itertools.pairwise(edges)]
    x, y = ([statistics.median(values[window]) for window in windows] for values in (done, held_bytes))
    if len(set(x)) < 2:
        raise ValueError("no evaluation ended while samples were taken")
    slope, start = statistics.linear_regression(x, y)
    left = sum((b - start - slope * a) ** 2 for a, b in zip(x, y, strict=True))
    spread = sum((a - statistics.mean(x)) ** 2 for a in x)
    return Slope(slope, T_QUANTILE * math.sqrt(left / (WINDOWS - 2) / spread))


def take_sample(start_s: float, done: int) -> Sample:
    """What this process and all below it hold now."""
    below = find_processes_below(os.getpid())
    workers = [pid for pid in below if b"cuda_agent.workers.child" in _read(pid, "cmdline").split(b"\0")]
    return Sample(
        seconds=time.monotonic() - start_s,
        done=done,
        processes=1 + len(below),
        own_bytes=_measure_bytes(os.getpid()),
        workers_bytes=sum(map(_measure_bytes, workers)),
        started_bytes=sum(_measure_bytes(pid) for pid in below if pid not in workers),
    )


def _measure_bytes(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def main() -> int:
    """Evaluate, sample, and say what grows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="where the samples go, one a line")
    parser.add_argument("--count", type=int, default=1000, help="evaluations; 0: only judge OUT (1000)")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between samples (2)")
    arguments = parser.parse_args()
    if arguments.count:
        with keep_scratch():
            _sample_run(arguments.out, arguments.count, every_s=arguments.every)
    return int(_tell(read_records(arguments.out, Sample)))


def _tell(samples: Sequence[Sample]) -> bool:
    """Print a verdict for each kind of process; whether any grows."""
    count = samples[-1].done if samples else 0
    kept = [sample for sample in samples if sample.done >= WARM_UP * count]
    grows = False
    for name in ("own", "workers", "started"):
        held = [float(getattr(sample, f"{name}_bytes")) for sample in kept]
        slope = fit_slope([float(sample.done) for sample in kept], held)
        grows |= slope.grows
        print(
            f"{name:8} {'GROWS' if slope.grows else 'flat'}: {slope.bytes_each / 1024:+.1f} KiB each "
            f"(95 %: +- {slope.error / 1024:.1f}), median {statistics.median(held) / (1 << 20):.0f} MiB, "
            f"{count} evaluations in {kept[-1].seconds:.0f} s"
        )
    return grows


def _sample_run(out: Path, count: int, *, every_s: float) -> None:
    start_s, ended, done = time.monotonic(), threading.Event(), [0]
    out.parent.mkdir(parents=True, exist_ok=True)

    def sample() -> None:
        with out.open("w", encoding="utf-8") as lines:
            while not ended.wait(every_s):
                lines.write(take_sample(start_s, done[0]).model_dump_json() + "\n")
                lines.flush()

    thread = threading.Thread(target=sample)
    with WorkerPool(plan_local_workers(SERVED, devices=(), host_workers=1)) as pool:
        thread.start()
        try:
            for outcome in pool.run(_make_items(count)):
                done[0] += 1
                verdict = (outcome.value or {}).get("verify") or {}
                status = verdict.get("status", outcome.status)
                print(f"{done[0]}/{count} {outcome.item_id}: {status}", file=sys.stderr, flush=True)
        finally:
            ended.set()
            thread.join()


def _make_items(count: int) -> Iterator[WorkItem]:
    for number in range(count):
        case = load_case(CASES[number % len(CASES)])
        task = load_task(find_task(case.task))
        submission = freeze_case(case, Target.CPU)
        yield make_item(f"{number} {case.name}", task, submission=submission, target=Target.CPU)


if __name__ == "__main__":
    sys.exit(main())
