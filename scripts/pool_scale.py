"""How a pool's throughput grows with its devices, and what its own scheduling costs.

    python -m scripts.pool_scale RUN/results.jsonl --devices 1 8 32 128

The devices are simulated: each evaluation takes as long as one of the recorded ones did, divided by
`--speed`, in a worker that only sleeps. Ideal throughput is devices divided by the mean duration.
"""

import argparse
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_agent.environment.batch import BatchResult
from cuda_agent.rundir import read_records
from cuda_agent.workers.item import Answer, Step, Tier, WorkItem
from cuda_agent.workers.worker_pool import WorkerPool


class Sleeper:
    """A worker that takes its time."""

    name = "sleeper"

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        """Sleep as long as the payload says."""
        time.sleep(payload.get(method, 0.0))
        return Answer(value={}, is_last=method != "build")

    def close(self) -> None:
        """Nothing to end."""


def main() -> None:
    """Print a line for each number of devices."""
    arguments = _parse()
    results = read_records(arguments.results, BatchResult)
    recorded = [{times.method: times.ran_s for times in r.times} for r in results if len(r.times) == 2]
    print(f"{len(recorded)} recorded evaluations, durations divided by {arguments.speed:g}")
    for devices in arguments.devices:
        items = list(_draw(recorded, count=arguments.each * devices, speed=arguments.speed))
        _race(items, devices=devices)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("results", type=Path, help="results.jsonl of a run of `cuda-agent evaluate`")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--each", type=int, default=20, help="evaluations for each device (20)")
    parser.add_argument("--speed", type=float, default=20.0, help="what durations are divided by (20)")
    return parser.parse_args()


def _draw(recorded: list[dict[str, float]], *, count: int, speed: float) -> list[WorkItem]:
    generator = random.Random(0)
    steps = tuple(
        Step(tier=tier, method=method, limit_s=600.0)
        for tier, method in ((Tier.HOST, "build"), (Tier.DEVICE, "judge"))
    )
    return [
        WorkItem(
            item_id=str(number),
            payload={method: s / speed for method, s in generator.choice(recorded).items()},
            steps=steps,
            affinity=str(generator.randrange(200)),
        )
        for number in range(count)
    ]


def _race(items: list[WorkItem], *, devices: int) -> None:
    total_s = sum(item.payload["judge"] for item in items)
    with WorkerPool({Tier.HOST: [Sleeper] * devices, Tier.DEVICE: [Sleeper] * devices}) as pool:
        start_s, cpu_s = time.monotonic(), time.process_time()
        done = sum(1 for _ in pool.run(items))
        wall_s, cpu_s = time.monotonic() - start_s, time.process_time() - cpu_s
    print(
        f"{devices:4} devices: {done} evaluations in {wall_s:.2f} s, {done / wall_s:.1f} a second; "
        f"devices busy {total_s / wall_s / devices:.1%}; scheduler {cpu_s / done * 1e3:.2f} ms of processor "
        f"time each, {cpu_s / total_s:.2%} of the devices' time"
    )


if __name__ == "__main__":
    main()
