"""Everything the expert finds out about a task before it writes the first file."""

import sys
from dataclasses import dataclass
from pathlib import Path

import cuda_agent
from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.choice import Choice
from cuda_agent.expert.constructor import SignatureError
from cuda_agent.expert.cuda_traversal import is_too_long
from cuda_agent.expert.emit_cpu import emit_cpu
from cuda_agent.expert.emit_cuda import emit_cuda, find_all_headers, plan_scratch
from cuda_agent.expert.emit_model import emit_model
from cuda_agent.expert.explain import explain_plan
from cuda_agent.expert.fuse import fuse_graph
from cuda_agent.expert.graph import Graph, TraceReply
from cuda_agent.expert.index import IrregularError
from cuda_agent.expert.plan import Plan
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.template import TEMPLATES
from cuda_agent.judge.policy import Precision
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Sandbox
from cuda_agent.scratch import temporary_folder
from cuda_agent.tasks.target import Target
from cuda_agent.workers.cores import count_cores

TRACE_LIMITS = Limits(wall_s=180.0, output_bytes=16 << 20)
"""Enough for a module of some hundred operations and inputs of some gigabytes."""

HEADERS = {Target.CPU: ("vec.h", "vec_math.h"), Target.CUDA: ("device.h",)}
"""Headers that every emitted source includes, from the templates' folder."""

SOURCES = {Target.CPU: "kernels/fused.cpp", Target.CUDA: "kernels/fused.cu"}
"""The emitted source."""


SPECIAL_HEADER = "special.h"
"""The header that sources with functions of float64 include."""

PRODUCT_HEADERS = {
    Target.CPU: ("product.h",),
    Target.CUDA: ("device_product.h", "cublas_product.h", "cudnn_convolution.h"),
}
"""Headers that sources with matrix products include."""

TRAVERSAL_HEADERS = {Target.CPU: "traverse.h", Target.CUDA: "device_traverse.h"}
"""The header that sources with traversals include."""


def list_headers(target: Target) -> tuple[str, ...]:
    """The names of all headers that an emitted source may include."""
    return (*HEADERS[target], *PRODUCT_HEADERS[target], TRAVERSAL_HEADERS[target], SPECIAL_HEADER)


def read_headers(target: Target) -> dict[str, str]:
    """All headers that an emitted source may include: their text, by path in a submission."""
    return {f"kernels/{name}": (TEMPLATES / name).read_text() for name in list_headers(target)}


class StudyError(Exception):
    """The module cannot be optimised by the expert; the message is the reason, for the reader."""


def find_headers(plan: Plan, target: Target) -> tuple[str, ...]:
    """The headers that the emitted source of a plan includes."""
    found = [*HEADERS[target], *((SPECIAL_HEADER,) if plan.has_special else ())]
    found += [TRAVERSAL_HEADERS[target]] if plan.traversals else []
    if target is Target.CUDA:
        return (*found, *find_all_headers(plan))
    return (*found, *(("product.h",) if plan.products else ()))


@dataclass(frozen=True)
class Study:
    """A task, understood."""

    target: Target
    """Where the kernels run."""
    source: str
    """The reference program."""
    traced: int
    """How many operations were traced."""
    graph: Graph
    """The rewritten graph."""
    plan: Plan
    """The kernels."""
    precision: Precision = Precision.HIGHEST
    """What float32 products may do inside (cuda)."""

    def write_kernels(self, choice: Choice, *, is_brief: bool = False) -> str:
        """The source of the kernels under one choice; brief is without the plan in words."""
        comment = "" if is_brief else explain_plan(self.plan, choice)
        if self.target is Target.CPU:
            return emit_cpu(self.plan, choice, comment=comment)
        return emit_cuda(self.plan, choice, comment=comment, precision=self.precision)

    def write_files(self, choice: Choice, *, is_first: bool, is_brief: bool = False) -> dict[str, str]:
        """Files to create, by path: the kernels, and at first also what does not depend on the choice.

        Brief is without comments, and without headers, which are in place.
        """
        files = {}
        if is_first:
            files["model_new.py"] = emit_model(self.graph, self.plan, source=self.source, is_brief=is_brief)
            for name in () if is_brief else find_headers(self.plan, self.target):
                files[f"kernels/{name}"] = (TEMPLATES / name).read_text()
        files[SOURCES[self.target]] = self.write_kernels(choice, is_brief=is_brief)
        return files


def run_trace(sandbox: Sandbox, source: str, *, target: Target) -> Graph:
    """Trace the reference in the sandbox.

    Raises:
        StudyError: it cannot be traced.
    """
    env = {
        "PYTHONPATH": str(Path(cuda_agent.__file__).parents[1]),
        "OMP_NUM_THREADS": str(count_cores()),
    }
    if target is Target.CPU:
        env["CUDA_VISIBLE_DEVICES"] = ""
    with temporary_folder("cuda-agent-trace-") as folder:
        command = Command(
            argv=(sys.executable, "-m", "cuda_agent.expert.trace"),
            cwd=folder,
            mounts=(Mount(path=folder, writable=True),),
            env=env,
            gpu=target is Target.CUDA,
            limits=TRACE_LIMITS,
        )
        ended = sandbox.run(command, source.encode())
    if ended.timed_out or ended.returncode:
        lines = ended.stderr.strip().splitlines()[-1:] or ["no message"]
        why = "took too long" if ended.timed_out else f"ended with status {ended.returncode} ({lines[0]})"
        raise StudyError(f"tracing {why}")
    reply = TraceReply.model_validate_json(ended.stdout)
    if reply.graph is None:
        raise StudyError(reply.reason)
    return reply.graph


def check_lines(plan: Plan) -> None:
    """See that every line that is sorted fits into shared memory.

    Raises:
        UnsupportedError: one does not.
    """
    for step in plan.traversals:
        if is_too_long(step):
            raise UnsupportedError(f"sorting lines of {step.length} elements is beyond me on a GPU")


def study_task(
    sandbox: Sandbox, source: str, *, target: Target, precision: Precision = Precision.HIGHEST
) -> Study:
    """Trace, rewrite and plan a task.

    Raises:
        StudyError: one of these steps does not know what to do; says why.
    """
    traced = run_trace(sandbox, source, target=target)
    try:
        graph = rewrite_graph(canonicalize(traced))
        plan = fuse_graph(graph)
        if target is Target.CUDA:
            plan = plan_scratch(plan)
            check_lines(plan)
        study = Study(
            target=target,
            source=source,
            traced=len(traced.nodes),
            graph=graph,
            plan=plan,
            precision=precision,
        )
        emit_model(graph, plan, source=source)
    except (UnsupportedError, IrregularError, SignatureError) as error:
        raise StudyError(str(error)) from error
    return study
