"""Experts' tools on a real submission: compiled and run in the sandbox, never outside."""

import shutil
from pathlib import Path

import pytest

from cuda_agent.environment import inspection
from cuda_agent.environment.client import INSPECTIONS
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.inspection import WAYS, Inspection, inspect
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.environment.conftest import MODEL

CUDA_KERNEL = """\
#include <cuda_agent/kernel.h>

__global__ void relu_scale_kernel(
    const float* in, const float* factor, float* out, int64_t n, int64_t columns) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = (in[i] > 0 ? in[i] : 0) * factor[i % columns];
}

static void relu_scale(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor out) {
  const int64_t n = x.numel();
  relu_scale_kernel<<<(n + 255) / 256, 256, 0, kernel::stream(x)>>>(
      x.data<const float>(), scale.data<const float>(), out.data<float>(), n, x.size(-1));
}
EXPORT_KERNEL(relu_scale, relu_scale);
"""


@pytest.fixture
def setting(sandbox: Sandbox, tiny_task: Task) -> Setting:
    return Setting(task=tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))


@pytest.fixture
def cuda_setting(sandbox: Sandbox, tiny_task: Task) -> Setting:
    return Setting(task=tiny_task, target=Target.CUDA, sandbox=sandbox, policy=load_policy("strict"))


@pytest.fixture
def cuda_submission() -> Submission:
    return Submission({"model_new.py": MODEL.encode(), "kernels/relu_scale.cu": CUDA_KERNEL.encode()})


def needs_gcc() -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")


def test_every_inspection_is_a_command_and_is_for_some_target() -> None:
    assert (
        set(INSPECTIONS)
        == {what.value for what in Inspection}
        == {what for ways in WAYS.values() for what in ways}
    )


def test_the_compilers_report_of_loops(setting: Setting, submission: Submission) -> None:
    needs_gcc()
    plain = submission.files["kernels/relu_scale.cpp"].replace(b"factor[i % columns]", b"2.0f")
    found = inspect(
        Inspection.VECTORS, Submission({**submission.files, "kernels/relu_scale.cpp": plain}), setting=setting
    )
    assert "kernels/relu_scale.cpp:9: loop vectorized using" in found.summary
    assert "missed:" in found.report
    assert "missed:" not in found.summary


def test_a_foreign_form_is_laid_out_in_our_own(setting: Setting, tmp_path: Path) -> None:
    foreign = Submission({"model_new.py": b"import cuda_extension\n", "kernels/a.cpp": b"int a;\n"})
    bench = inspection.Bench(tmp_path / "bench", foreign, setting=setting)
    assert (bench.folder / "model_new.py").read_text() == "import kernels as cuda_extension\n"
    assert bench.compilers.torch_libraries


def test_machine_code_of_the_library(setting: Setting, submission: Submission) -> None:
    found = inspect(Inspection.ASSEMBLY, submission, setting=setting)
    assert "relu_scale" in found.summary
    assert "instructions: " in found.summary
    assert "Disassembly of section .text" in found.report


@pytest.mark.slow
def test_counters_of_calls_in_the_sandbox(setting: Setting, submission: Submission) -> None:
    if shutil.which("perf") is None:
        pytest.skip("needs perf")
    found = inspect(Inspection.COUNTERS, submission, setting=setting)
    assert "task-clock: " in found.summary
    assert "page-faults: " in found.summary


@pytest.mark.slow
def test_what_the_submission_plants_for_us_is_not_followed(
    setting: Setting, submission: Submission, tmp_path: Path
) -> None:
    if shutil.which("perf") is None:
        pytest.skip("needs perf")
    secret = tmp_path / "secret"
    secret.write_text("40,,cycles,1,100,,")
    planting = MODEL.replace(
        "        return out",
        f"        os.unlink('counts.csv'); os.symlink('{secret}', 'counts.csv'); return out",
    ).replace("import torch\n", "import os\nimport torch\n", 1)
    with pytest.raises(OSError, match=r"counts\.csv"):
        inspect(
            Inspection.COUNTERS,
            Submission({**submission.files, "model_new.py": planting.encode()}),
            setting=setting,
        )


@pytest.mark.nvcc
def test_registers_of_a_kernel(cuda_setting: Setting, cuda_submission: Submission) -> None:
    found = inspect(Inspection.REGISTERS, cuda_submission, setting=cuda_setting)
    assert "relu_scale_kernel" in found.summary
    assert "no spills, 0 bytes shared memory; registers allow 100% occupancy" in found.summary


@pytest.mark.nvcc
def test_machine_code_of_a_kernel(cuda_setting: Setting, cuda_submission: Submission) -> None:
    if shutil.which("cuobjdump") is None:
        pytest.skip("needs cuobjdump")
    found = inspect(Inspection.ASSEMBLY, cuda_submission, setting=cuda_setting)
    assert "loads of global memory, 32 bit" in found.summary
    assert "Function : " in found.report


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize("what", [Inspection.MEMORY, Inspection.KERNELS])
def test_tools_on_the_gpu(cuda_setting: Setting, cuda_submission: Submission, what: Inspection) -> None:
    try:
        found = inspect(what, cuda_submission, setting=cuda_setting)
    except UserError as error:
        pytest.skip(str(error))
    assert "no access out of bounds" in found.summary or "relu_scale_kernel" in found.summary


@pytest.mark.gpu
@pytest.mark.nvcc
def test_a_read_of_one_element_too_many_is_seen_on_the_gpu(
    cuda_setting: Setting, cuda_submission: Submission
) -> None:
    """Torch's allocator would hide it in a block of its own."""
    late = CUDA_KERNEL.replace("if (i < n)", "if (i <= n)").replace("(n + 255) / 256", "n / 256 + 1")
    files = {**cuda_submission.files, "kernels/relu_scale.cu": late.encode()}
    try:
        found = inspect(Inspection.MEMORY, Submission(files), setting=cuda_setting)
    except UserError as error:
        pytest.skip(str(error))
    assert "Invalid __global__" in found.summary
    assert "relu_scale_kernel" in found.summary


@pytest.mark.nvcc
@pytest.mark.parametrize(
    ("what", "tool"), [(Inspection.MEMORY, "compute-sanitizer"), (Inspection.KERNELS, "ncu")]
)
def test_a_tool_that_is_missing_is_named_with_what_to_do(
    cuda_setting: Setting,
    cuda_submission: Submission,
    monkeypatch: pytest.MonkeyPatch,
    what: Inspection,
    tool: str,
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == tool else which(name))
    monkeypatch.setattr(inspection, "find_cuda_home", lambda nvcc: Path("/nonexistent"))
    with pytest.raises(UserError, match=rf"{tool} is not on this machine: install"):
        inspect(what, cuda_submission, setting=cuda_setting)


def test_what_is_for_another_target_says_what_there_is(setting: Setting, submission: Submission) -> None:
    with pytest.raises(UserError, match="registers is not for cpu; there are: vectors, assembly, counters"):
        inspect(Inspection.REGISTERS, submission, setting=setting)
