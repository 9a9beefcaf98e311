"""Build many plans into one library and run each as a ModelNew against its reference in float64."""

import re
import subprocess
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tvm_ffi
from torch.utils import _pytree as pytree

from cuda_agent.environment.toolchain import find_cxx, find_include_dirs
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.choice import Choice
from cuda_agent.expert.emit_cpu import emit_cpu
from cuda_agent.expert.emit_cuda import emit_cuda, plan_scratch
from cuda_agent.expert.emit_model import emit_model
from cuda_agent.expert.fuse import fuse_graph
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.plan import Plan
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.template import TEMPLATES
from cuda_agent.expert.trace import trace_source

EMULATOR = Path(__file__).parent / "emulator"
LAUNCH = re.compile(r"(\w+)<<<(\d+), (\d+), 0, stream>>>\((.*)\);")
FLAGS = ("-std=c++17", "-O1", "-march=native", "-fopenmp", "-fno-math-errno", "-fPIC", "-fvisibility=hidden")
HEADS = {
    False: ("vec_math.h", "special.h", "product.h", "traverse.h"),
    True: (
        "device.h",
        "special.h",
        "device_product.h",
        "cublas_product.h",
        "cudnn_convolution.h",
        "device_traverse.h",
    ),
}


@dataclass(frozen=True)
class Planned:
    """A reference program and its plan."""

    source: str
    graph: Graph
    plan: Plan


def plan_source(source: str) -> Planned:
    graph = rewrite_graph(canonicalize(trace_source(source)))
    return Planned(source, graph, fuse_graph(graph))


def write_emulated(plan: Plan, choice: Choice) -> str:
    """CUDA as C++ for the emulator: only the launches are written differently."""
    text = emit_cuda(plan_scratch(plan), choice, comment="")
    return LAUNCH.sub(r"emulator::launch(\2, \3, [&] { \1(\4); });", text)


def build_library(
    planned: Mapping[str, Planned], folder: Path, *, choice: Choice, emulated: bool = False
) -> tvm_ffi.Module:
    """One library with a function for each plan, named as in `planned`."""
    includes = re.compile(r"^#include .*$|^using namespace vec;$|^//.*$", re.MULTILINE)
    bodies = []
    for name, one in planned.items():
        text = write_emulated(one.plan, choice) if emulated else emit_cpu(one.plan, choice, comment="")
        text = includes.sub("", text).replace("EXPORT_KERNEL(fused,", f"EXPORT_KERNEL({name},")
        bodies.append(f"namespace of_{name} {{\n{text}\n}}")
    heads = [
        "<cuda_agent/kernel.h>",
        "<omp.h>",
        "<algorithm>",
        "<vector>",
        *(f'"{head}"' for head in HEADS[emulated]),
    ]
    lines = [f"#include {head}" for head in heads] + ([] if emulated else ["using namespace vec;"])
    source, library = folder / "zoo.cpp", folder / "zoo.so"
    source.write_text("\n".join([*lines, *bodies]))
    dirs = [f"-I{path}" for path in (*find_include_dirs(), TEMPLATES, *([EMULATOR] if emulated else []))]
    command = [str(find_cxx()), *FLAGS, *dirs, "-shared", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return tvm_ffi.load_module(str(library))


def define(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "source", "exec"), names)
    return names


def build_model_new(one: Planned, function: Callable[..., object], *, emulated: bool) -> torch.nn.Module:
    plan = plan_scratch(one.plan) if emulated else one.plan
    kernels = types.ModuleType("kernels")
    kernels.fused = function  # type: ignore[attr-defined]
    before = sys.modules.get("kernels")
    sys.modules["kernels"] = kernels
    try:
        model: torch.nn.Module = define(emit_model(one.graph, plan, source=one.source))["ModelNew"]()
    finally:
        sys.modules.pop("kernels")
        if before is not None:
            sys.modules["kernels"] = before
    return model


def check_against_reference(
    one: Planned, function: Callable[..., object], *, emulated: bool = False
) -> float:
    """Largest error as a fraction of what a correct float32 computation may have; raises on anything else."""
    torch.manual_seed(0)
    reference = define(one.source)
    model, inputs = reference["Model"]().eval(), reference["get_inputs"]()
    for value in model.state_dict().values():
        if value.is_floating_point():
            value.uniform_(0.5, 1.5)
    candidate = build_model_new(one, function, emulated=emulated)
    candidate.load_state_dict(model.state_dict())
    wide = reference["Model"]().eval()
    wide.load_state_dict(model.state_dict())
    exact_inputs = pytree.tree_map(lambda t: t.double() if t.is_floating_point() else t, inputs)
    with torch.no_grad():
        eager, got, exact = model(*inputs), candidate(*inputs), wide.double()(*exact_inputs)
    assert pytree.tree_structure(eager) == pytree.tree_structure(got)
    triples = zip(*(pytree.tree_leaves(tree) for tree in (eager, got, exact)), strict=True)
    return max(compare(one, other, exact=wanted) for one, other, wanted in triples)


@dataclass(frozen=True)
class Compiled:
    """Plans in one library: what each computes of given inputs, beside torch."""

    planned: Mapping[str, Planned]
    module: tvm_ffi.Module

    def check(self, name: str, *inputs: torch.Tensor) -> None:
        """Compare every output with eager's and with float64's; the module must have no weights."""
        one = self.planned[name]
        model = define(one.source)["Model"]()
        candidate = build_model_new(one, getattr(self.module, name), emulated=False)
        wide = [value.double() if value.is_floating_point() else value for value in inputs]
        with torch.no_grad():
            eager, got, exact = model(*inputs), candidate(*inputs), model(*wide)
        for each in zip(*(pytree.tree_leaves(tree) for tree in (eager, got, exact)), strict=True):
            assert compare(each[0], each[1], exact=each[2]) < 1


def compile_sources(sources: Mapping[str, str], folder: Path) -> Compiled:
    """Plans of several programs, compiled at once."""
    planned = {name: plan_source(source) for name, source in sources.items()}
    return Compiled(planned, build_library(planned, folder, choice=Choice()))


def draw_tensor(seed: int, shape: tuple[int, ...], *, scale: float) -> torch.Tensor:
    """Numbers of some size, some of them zero, one or equal to their neighbours."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(shape, generator=generator) * scale
    mark = torch.rand(shape, generator=generator)
    drawn = torch.where(mark < 0.15, drawn.flip(0), drawn)
    return torch.where(mark < 0.05, 0.0, torch.where(mark < 0.1, 1.0, drawn))


def compare(eager: torch.Tensor, got: torch.Tensor, *, exact: torch.Tensor) -> float:
    assert (got.shape, got.dtype) == (eager.shape, eager.dtype)
    if not got.is_floating_point():
        assert torch.equal(got, eager)
        return 0.0
    assert torch.equal(got.isfinite(), eager.isfinite())
    exact = exact.double().nan_to_num(0, 0, 0)
    eager_error = (eager.double().nan_to_num(0, 0, 0) - exact).abs()
    error = (got.double().nan_to_num(0, 0, 0) - exact).abs()
    epsilon = torch.finfo(got.dtype).eps
    allowed = 16 * epsilon * exact.abs() + 16 * eager_error.max() + epsilon * exact.abs().max()
    return float((error / allowed.clamp(min=1e-30)).max())
