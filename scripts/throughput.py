"""How many evaluations a machine does in an hour, and how long one takes.

    python -m scripts.throughput --target cuda --tasks 20 --each 10 --out throughput.jsonl

Tasks are chains of pointwise operators, submissions are one fused kernel each with different block sizes,
so every one is built anew. One submission of each task goes first: it pays for the task's baselines. With
`--compare` the same kernel is also built once as KernelBench does it, against torch's headers.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from cuda_agent.environment.evaluator import SERVED, make_item
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import Submission
from cuda_agent.report.judged import TimedEvaluation
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.devices import list_gpus, plan_local_workers
from cuda_agent.workers.item import Outcome, OutcomeStatus, WorkItem
from cuda_agent.workers.worker_pool import WorkerPool

ELEMENTS = {Target.CPU: 1 << 20, Target.CUDA: 1 << 26}
OPERATORS = (
    ("x * 1.25", "v * 1.25f"),
    ("x + 0.5", "v + 0.5f"),
    ("torch.relu(x)", "(v > 0 ? v : 0.0f)"),
    ("torch.tanh(x)", "std::tanh(v)"),
    ("torch.sigmoid(x)", "1.0f / (1.0f + std::exp(-v))"),
    ("x.abs()", "std::fabs(v)"),
    ("torch.exp(-x * x)", "std::exp(-v * v)"),
    ("x * torch.sigmoid(x)", "v / (1.0f + std::exp(-v))"),
)
LENGTHS = (8, 24)
MODEL = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
{body}
        return x


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn({elements})]


def get_init_inputs() -> list[object]:
    return []
"""
MODEL_NEW = """\
import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernels.fused(x, y)
        return y
"""
CPU = """\
#include <cuda_agent/kernel.h>
#include <cmath>
void fused(kernel::Tensor x, kernel::Tensor y) {{
  const float* a = x.data<const float>();
  float* b = y.data<float>();
  const int64_t n = x.numel();
#pragma omp parallel for simd schedule(static, {block})
  for (int64_t i = 0; i < n; ++i) {{
    float v = a[i];
{body}
    b[i] = v;
  }}
}}
EXPORT_KERNEL(fused, fused);
"""
CUDA = """\
#include <cuda_agent/kernel.h>
#include <cmath>
__global__ void fused_kernel(const float* a, float* b, int64_t n) {{
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float v = a[i];
{body}
  b[i] = v;
}}
void fused(kernel::Tensor x, kernel::Tensor y) {{
  const int64_t n = x.numel();
  const float* a = x.data<const float>();
  float* b = y.data<float>();
  fused_kernel<<<unsigned((n + {block} - 1) / {block}), {block}, 0, kernel::stream(x)>>>(a, b, n);
}}
EXPORT_KERNEL(fused, fused);
"""
PEER = """\
import sys, time
from torch.utils.cpp_extension import load_inline
start = time.monotonic()
load_inline("peer", cpp_sources="torch::Tensor fused(torch::Tensor x);",
            {kind}_sources=open(sys.argv[1]).read(), functions=["fused"], build_directory=sys.argv[2],
            extra_cflags=["-O3", "-fopenmp"])
print(time.monotonic() - start)
"""
PEER_CALL = """
#include <torch/extension.h>
torch::Tensor fused(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* a = x.data_ptr<float>();
  float* b = y.data_ptr<float>();
  const int64_t n = x.numel();
"""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """One task."""

    task: Task
    """The reference."""
    body: str
    """The same in C++, on a float named v."""


def main() -> None:
    """Evaluate, print what it took, keep each evaluation's times."""
    arguments = parse()
    chains = list(make_chains(arguments.tasks, arguments.target))
    devices = list_gpus()[: arguments.devices] if arguments.target is Target.CUDA else ()
    workers = plan_local_workers(
        SERVED, devices=devices, host_workers=arguments.hosts, per_device=arguments.per_device
    )
    with WorkerPool(workers) as pool, arguments.out.open("w", encoding="utf-8") as out:
        warm_s, first = run(pool, make_items(chains, arguments, variants=[0]), out=out)
        print(f"first submission of each of {len(first)} tasks, with its baselines: {warm_s:.1f} s")
        wall_s, outcomes = run(
            pool, make_items(chains, arguments, variants=range(1, arguments.each + 1)), out=out
        )
    print("\n".join(describe(outcomes, wall_s)))
    if arguments.compare:
        print(compare_build(chains[0], arguments.target))


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=Target, default=Target.CPU, help="cpu or cuda (cpu)")
    parser.add_argument("--tasks", type=int, default=20, help="tasks (20)")
    parser.add_argument("--each", type=int, default=10, help="submissions of each task (10)")
    parser.add_argument("--devices", type=int, default=None, help="GPUs to use (all)")
    parser.add_argument("--per-device", type=int, default=1, help="judges for each GPU (1)")
    parser.add_argument("--hosts", type=int, default=None, help="workers that build (by the number of cores)")
    parser.add_argument(
        "--compare", action="store_true", help="also build one kernel against torch's headers"
    )
    parser.add_argument("--out", type=Path, required=True, help="JSONL: each evaluation's times")
    return parser.parse_args()


def make_chains(count: int, target: Target) -> Iterator[Chain]:
    """Seeded tasks of different lengths."""
    generator = random.Random(20260204)
    for number in range(count):
        chosen = generator.choices(OPERATORS, k=generator.randint(*LENGTHS))
        body = "\n".join(f"        x = {python}" for python, _ in chosen)
        source = MODEL.format(body=body, elements=ELEMENTS[target])
        yield Chain(
            task=Task(name=f"chain-{number}", source=source),
            body="\n".join(f"    v = {cpp};" for _, cpp in chosen),
        )


def make_items(
    chains: Sequence[Chain], arguments: argparse.Namespace, *, variants: Iterable[int]
) -> list[WorkItem]:
    """Submissions of every task, in an order that mixes tasks as training does: by groups of a task."""
    text, suffix = (CPU, "cpp") if arguments.target is Target.CPU else (CUDA, "cu")
    return [
        make_item(
            f"{chain.task.name}/{variant}",
            chain.task,
            submission=Submission(
                {
                    "model_new.py": MODEL_NEW.encode(),
                    f"kernels/fused.{suffix}": text.format(
                        body=chain.body, block=64 * (variant + 1)
                    ).encode(),
                }
            ),
            target=arguments.target,
        )
        for chain in chains
        for variant in variants
    ]


def run(pool: WorkerPool, items: Sequence[WorkItem], *, out: TextIO) -> tuple[float, list[Outcome]]:
    """Evaluate all: seconds by the wall, and what came of each."""
    started, outcomes = time.monotonic(), []
    for outcome in pool.run(items):
        outcomes.append(outcome)
        verdict = read_verdict(outcome)
        print(f"{len(outcomes)}/{len(items)} {outcome.item_id} {verdict}", file=sys.stderr)
        took = {f"{times.method}_s": times.ran_s for times in outcome.times}
        waited = {f"{times.method}_waited_s": times.waited_s for times in outcome.times}
        record = TimedEvaluation(
            item=outcome.item_id,
            verdict=verdict,
            at_s=time.monotonic() - started,
            seconds=(outcome.value or {}).get("seconds", {}),
            **took,
            **waited,
        )
        print(record.model_dump_json(), file=out, flush=True)
    return time.monotonic() - started, outcomes


def read_verdict(outcome: Outcome) -> str:
    """The evaluation's verdict, or why there is none."""
    if outcome.status is not OutcomeStatus.DONE:
        return f"{outcome.status}: {outcome.reason}"
    return Evaluation.model_validate(outcome.value).verdict


def describe(outcomes: Sequence[Outcome], wall_s: float) -> Iterator[str]:
    """What is printed of a run."""
    verdicts = [read_verdict(outcome) for outcome in outcomes]
    yield f"{len(outcomes)} evaluations in {wall_s:.1f} s: {3600 * len(outcomes) / wall_s:.0f} an hour"
    yield "verdicts: " + ", ".join(
        f"{verdict} {verdicts.count(verdict)}" for verdict in sorted(set(verdicts))
    )
    for name, values in sorted(collect_seconds(outcomes).items()):
        yield f"  {name}: p50 {statistics.median(values):.2f} s, sum {sum(values):.1f} s, n {len(values)}"
    ran = [[times.ran_s for times in outcome.times] for outcome in outcomes if len(outcome.times) == 2]
    if ran:
        for name, values in (
            ("build", [build for build, _ in ran]),
            ("judge", [judge for _, judge in ran]),
            ("both", [build + judge for build, judge in ran]),
        ):
            p90_s = sorted(values)[int(0.9 * len(values))]
            yield f"{name}: p50 {statistics.median(values):.2f} s, p90 {p90_s:.2f} s"


def collect_seconds(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """What the parts of the evaluations took, by their names."""
    found: dict[str, list[float]] = {}
    for outcome in outcomes:
        for name, seconds in (outcome.value or {}).get("seconds", {}).items():
            found.setdefault(name, []).append(seconds)
    return found


def compare_build(chain: Chain, target: Target) -> str:
    """One kernel built as KernelBench does: load_inline, against torch's headers, in a fresh folder."""
    kind, loop = (
        "cpp",
        "for (int64_t i = 0; i < n; ++i) { float v = a[i];\n" + chain.body + "\n b[i] = v; }",
    )
    text = PEER_CALL + ("#pragma omp parallel for simd\n" + loop) + "\n  return y;\n}\n"
    if target is Target.CUDA:
        kernel = (
            CUDA.format(body=chain.body, block=256)
            .split("void fused(")[0]
            .replace("#include <cuda_agent/kernel.h>", "")
        )
        text = (
            kernel
            + PEER_CALL
            + "  fused_kernel<<<unsigned((n + 255) / 256), 256>>>(a, b, n);\n  return y;\n}\n"
        )
        kind = "cuda"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "build").mkdir()
        source = Path(folder) / f"peer.{kind}"
        source.write_text(text, encoding="utf-8")
        program = textwrap.dedent(PEER.format(kind=kind))
        if target is Target.CPU:
            program = program.replace('cpp_sources="torch::Tensor fused(torch::Tensor x);",', "")
        done = subprocess.run(
            [sys.executable, "-c", program, str(source), str(Path(folder) / "build")],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )
    if done.returncode:
        return f"the same kernel against torch's headers: not built: {done.stderr.strip().splitlines()[-1:]}"
    built_s = float(done.stdout.split()[-1])
    return f"the same kernel against torch's headers, load_inline: {built_s:.1f} s to build"


if __name__ == "__main__":
    main()
