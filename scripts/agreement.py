"""Our verdicts and times beside those of KernelBench's own harness, for the same solutions.

    cuda-agent run KERNELBENCH/KernelBench/level1/*.py --target cuda --policy expert --out RUN
    python -m scripts.agreement KERNELBENCH RUN --out agreement.jsonl

KERNELBENCH is a checkout, RUN a run over some of its tasks. Each winner is built once; a wrapper loads that
library and the reference's own weights, so that the harness calls the very kernels that were judged. It is
asked twice: for the winner as it is, and with its kernels switched off, which our judge has refused for
each winner (or it would not have won). The harness needs a GPU.
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.winner import Winner, find_winner
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.rundir import read_saved_config
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment

TIMEOUT_S = 600.0
WRAPPER = """
import sys, types
import torch, tvm_ffi

scope = {{"__name__": "reference"}}
exec({reference!r}, scope)
library = tvm_ffi.load_module({library!r})
kernels = types.ModuleType("kernels")
kernels.__getattr__ = lambda name: {function}
sys.modules["kernels"] = kernels
theirs = {{"__name__": "model_new"}}
exec({model_new!r}, theirs)


class ModelNew(theirs["ModelNew"]):
    def __init__(self, *arguments):
        weights = scope["Model"](*arguments).state_dict()  # drawn from the seed that the harness has set
        super().__init__(*arguments)
        own = self.state_dict()
        self.load_state_dict({{name: value for name, value in weights.items() if name in own}})
"""
FUNCTIONS = {"as it is": "library.get_function(name)", "switched off": "lambda *arguments: None"}
HARNESS = """
import json, sys, types
from pathlib import Path

sys.path.insert(0, sys.argv[1])
for name in ("dotenv", "litellm", "openai"):  # for asking models, which is not done here
    try:
        __import__(name)
    except ImportError:
        stub = sys.modules[name] = types.ModuleType(name)
        stub.load_dotenv = stub.completion = stub.OpenAI = lambda *_: None
import torch
from kernelbench.eval import eval_kernel_against_ref

result = eval_kernel_against_ref(
    Path(sys.argv[2]).read_text(), Path(sys.argv[3]).read_text(), num_correct_trials=5,
    num_perf_trials=100, measure_performance=sys.argv[4] == "as it is", device=torch.device("cuda:0"),
)
print("\\n" + json.dumps({"compiled": result.compiled, "correct": result.correctness,
    "runtime_ms": result.runtime, "reference_ms": getattr(result, "ref_runtime", None),
    "metadata": {key: str(value)[:300] for key, value in result.metadata.items()}}))
"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One solution, seen by both."""

    task: str
    """The task's name."""
    variant: str
    """As it is, or with its kernels switched off."""
    ours: str
    """Our verdict."""
    ours_speedup: float | None
    """Our speed-up over eager, the median of blocks."""
    theirs: bool | None
    """Whether the harness calls it correct; None where it gave no answer."""
    theirs_speedup: float | None
    """Its reference time over its time."""
    detail: str
    """What the harness said besides."""

    @property
    def agrees(self) -> bool:
        """Whether both take it, or both do not."""
        return (self.ours == "ok") is bool(self.theirs)


def main() -> None:
    """Ask the harness, write every answer, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernelbench", type=Path, help="a KernelBench checkout")
    parser.add_argument("run", type=Path, help="a run over some of its tasks")
    parser.add_argument("--out", type=Path, required=True, help="JSONL: every answer")
    arguments = parser.parse_args()
    rows = []
    with arguments.out.open("w", encoding="utf-8") as out:
        for row in compare(arguments.kernelbench, arguments.run):
            print(json.dumps(dataclasses.asdict(row)), file=out, flush=True)
            print(describe(row), flush=True)
            rows.append(row)
    print(f"{sum(row.agrees for row in rows)} of {len(rows)} answers agree")


def compare(kernelbench: Path, run: Path) -> Iterator[Row]:
    """Every winner of a run, each in both variants."""
    for name in [task["name"] for task in read_saved_config(run)["config"]["tasks"]]:
        try:
            winner = find_winner(run, name)
        except UserError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            library = build(winner, Path(folder))
            for variant in FUNCTIONS:
                text = wrap(winner, library, variant=variant)
                yield join(winner, variant, answer=ask_harness(kernelbench, winner, text, variant=variant))


def build(winner: Winner, folder: Path) -> Path:
    """The winner's library, built as the judge built it."""
    result, library = build_submission(
        winner.submission,
        target=winner.evaluation.target,
        sandbox=build_sandbox(Containment.AUTO),
        folder=folder,
    )
    if library is None:
        raise InfrastructureError(f"{winner.task.name} does not build any more: {result.reason}")
    return library


def wrap(winner: Winner, library: Path, *, variant: str) -> str:
    """A program in the harness's form that calls the library's kernels."""
    return WRAPPER.format(
        reference=winner.task.source,
        library=str(library),
        model_new=winner.submission.files["model_new.py"].decode(),
        function=FUNCTIONS[variant],
    )


def ask_harness(kernelbench: Path, winner: Winner, text: str, *, variant: str) -> dict[str, object]:
    """What the harness answers, in a process of its own; `metadata` alone where it gives no answer."""
    with tempfile.TemporaryDirectory() as folder:
        reference, solution = Path(folder) / "reference.py", Path(folder) / "solution.py"
        reference.write_text(winner.task.source, encoding="utf-8")
        solution.write_text(text, encoding="utf-8")
        argv = [
            sys.executable,
            "-c",
            HARNESS,
            str(kernelbench / "src"),
            str(reference),
            str(solution),
            variant,
        ]
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=dict(os.environ)
            )
        except subprocess.TimeoutExpired:
            return {"metadata": {"harness": f"no answer within {TIMEOUT_S:.0f} s"}}
    if done.returncode:
        return {"metadata": {"harness": (done.stderr.strip().splitlines() or ["no message"])[-1]}}
    answer: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def join(winner: Winner, variant: str, *, answer: dict[str, object]) -> Row:
    """Both answers side by side."""
    profile = winner.evaluation.profile
    whole = variant == "as it is"
    runtime, reference = (answer.get(key) for key in ("runtime_ms", "reference_ms"))
    timed = whole and isinstance(runtime, float) and isinstance(reference, float) and runtime > 0
    correct = answer.get("correct")
    return Row(
        task=winner.task.name,
        variant=variant,
        ours="ok" if whole else "verify:mismatch",
        ours_speedup=profile.over_eager.point if whole and profile and profile.over_eager else None,
        theirs=correct if isinstance(correct, bool) else None,
        theirs_speedup=float(reference) / float(runtime) if timed else None,  # type: ignore[arg-type]
        detail=json.dumps(answer.get("metadata", {})),
    )


def describe(row: Row) -> str:
    """One line."""
    speedups = " ".join("-" if x is None else f"{x:.2f}x" for x in (row.ours_speedup, row.theirs_speedup))
    mark = "" if row.agrees else "  (they differ)"
    return f"{row.task}, {row.variant}: ours {row.ours}, theirs {row.theirs}, {speedups}{mark}"


if __name__ == "__main__":
    main()
