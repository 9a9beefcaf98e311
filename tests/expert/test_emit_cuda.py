"""Emitted CUDA compiles, does not spill, and computes what the reference does (emulated on the host)."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from cuda_agent.environment.toolchain import find_cuda_include_dirs, find_include_dirs, find_nvcc
from cuda_agent.expert.choice import Choice
from cuda_agent.expert.emit_cuda import PARTIALS, emit_cuda, plan_scratch, split_loops
from cuda_agent.expert.schedule import Keep
from cuda_agent.expert.template import TEMPLATES
from cuda_agent.expert.tune import CUDA_CHOICES
from tests.expert.built import Planned, build_library, check_against_reference
from tests.expert.conftest import PARTS

COMPILED = ("masked_softmax", "even_masked_softmax", "cross_entropy", "even_total", "block_rows", "huge_rows",
            "even_bfloat16", "rotary_half", "embedding", "circular", "remainders", "special",
            "running", "sorted", "softmax_across")  # fmt: skip
HEADERS = ("device.h", "special.h", "device_traverse.h")


def find_wrong(planned: Mapping[str, Planned], folder: Path, *, choice: Choice) -> dict[str, object]:
    library = build_library(planned, folder, choice=choice, emulated=True)
    wrong: dict[str, object] = {}
    for name, one in planned.items():
        try:
            error = check_against_reference(one, getattr(library, name), emulated=True)
        except (AssertionError, RuntimeError) as failure:
            wrong[name] = str(failure)[:300]
        else:
            if not error < 0.5:
                wrong[name] = error
    return wrong


@pytest.mark.parametrize("part", PARTS)
def test_every_module_is_right(planned: Mapping[str, Planned], tmp_path: Path, part: str) -> None:
    some = {name: planned[name] for name in PARTS[part]}
    assert find_wrong(some, tmp_path, choice=CUDA_CHOICES[0]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("place", range(1, len(CUDA_CHOICES)))
def test_every_module_is_right_however_it_is_written(
    planned: Mapping[str, Planned], tmp_path: Path, place: int
) -> None:
    assert find_wrong(planned, tmp_path, choice=CUDA_CHOICES[place]) == {}


@pytest.mark.nvcc
def test_it_compiles_for_hopper_without_spilling(planned: Mapping[str, Planned], tmp_path: Path) -> None:
    for name in HEADERS:
        (tmp_path / name).write_text((TEMPLATES / name).read_text())
    dirs = [f"-I{path}" for path in (*find_include_dirs(), *find_cuda_include_dirs(find_nvcc()))]
    texts = [emit_cuda(plan_scratch(planned[name].plan), CUDA_CHOICES[0], comment=name) for name in COMPILED]
    merged = [f"namespace of_{name} {{\n{text}\n}}" for name, text in zip(COMPILED, texts, strict=True)]
    for name, place in zip(COMPILED, range(len(merged)), strict=True):
        merged[place] = merged[place].replace("EXPORT_KERNEL(fused,", f"EXPORT_KERNEL({name},")
    heads = "#include <cuda_agent/kernel.h>\n" + "".join(f'#include "{name}"\n' for name in HEADERS)
    (tmp_path / "zoo.cu").write_text(heads + "\n".join(merged))
    flags = [
        "-std=c++17",
        "-O3",
        "--expt-relaxed-constexpr",
        "-gencode=arch=compute_90a,code=sm_90a",
        "-Xptxas=-v",
        "-c",
        "-o",
        "zoo.o",
    ]
    command = [str(find_nvcc()), *flags, *dirs, "zoo.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    spills = [line for line in done.stderr.splitlines() if "spill stores" in line]
    assert len(spills) >= len(COMPILED)
    assert all("0 bytes spill stores, 0 bytes spill loads" in line for line in spills)


def test_totals_get_scratch_memory(planned: Mapping[str, Planned]) -> None:
    assert PARTIALS in [buffer.name for buffer in plan_scratch(planned["even_total"].plan).buffers]
    assert PARTIALS not in [buffer.name for buffer in plan_scratch(planned["softmax"].plan).buffers]


def test_pieces_of_different_lengths_become_kernels_of_their_own(planned: Mapping[str, Planned]) -> None:
    kernel = planned["rotary_partial"].plan.kernels[0]
    assert len(kernel.loops) == 2
    parts = split_loops(kernel)
    assert [part.loops for part in parts] == [(length,) for length in kernel.loops]
    assert sum(len(part.stores) for part in parts) == len(kernel.stores)


def test_accesses_are_sixteen_bytes_wide_where_they_can_be(planned: Mapping[str, Planned]) -> None:
    text = emit_cuda(planned["even_pointwise"].plan, Choice(keep=Keep.ROW), comment="")
    assert "load_once<4>(" in text
    assert "store_once<4>(out0" in text
    odd = emit_cuda(planned["gelu_bias"].plan, Choice(keep=Keep.ROW), comment="")
    assert "load_once<1>(" in odd
