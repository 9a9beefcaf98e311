"""The light binding header: what Python passes arrives, and what does not fit is a readable error."""

from pathlib import Path

import pytest
import torch
import tvm_ffi

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.result import BuildStatus
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.environment.toolchain import SKILL
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.tasks.target import Target

SOURCE = rb"""
#include <cuda_agent/kernel.h>
#include <stdexcept>

void scale(kernel::Tensor x, const kernel::Tensor& y, double factor, int64_t n, bool plus, float shift,
           int twice) {
  kernel::check(x.numel() == y.numel(), "x has %lld, y has %lld", (long long)x.numel(), (long long)y.numel());
  for (int64_t i = 0; i < x.numel(); ++i)
    y.data<float>()[i] = x.data<const float>()[i] * float(factor) + n + plus + shift + 2 * twice;
}
EXPORT_KERNEL(scale, scale);

void describe(kernel::Tensor x, kernel::Tensor out) {
  int64_t* to = out.data<int64_t>();
  const int64_t facts[] = {x.ndim(), x.size(0), x.size(-1), x.stride(0), x.stride(-1), x.numel(),
                           x.is_contiguous(), x.is_cpu(), x.is_cuda(), x.element_bytes(),
                           x.is_float32(), x.is_bfloat16()};
  for (int64_t fact : facts) *to++ = fact;
}
EXPORT_KERNEL(describe, describe);

template <typename T>
void touch(kernel::Tensor x) { x.data<T>(); }
EXPORT_KERNEL(as_float, touch<float>);
EXPORT_KERNEL(as_double, touch<double>);
EXPORT_KERNEL(as_int64, touch<int64_t>);
EXPORT_KERNEL(as_bool, touch<bool>);
EXPORT_KERNEL(as_bits16, touch<uint16_t>);
EXPORT_KERNEL(as_bfloat16, touch<__nv_bfloat16>);

struct alignas(32) Wide { float values[8]; };
EXPORT_KERNEL(as_wide, touch<Wide>);

static void outside(kernel::Tensor x) { x.size(3); }
EXPORT_KERNEL(outside, outside);
static void throws() { throw std::runtime_error("thrown here"); }
EXPORT_KERNEL(throws, throws);
static void nothing() {}
EXPORT_KERNEL(nothing, nothing);

// Names that a macro might use for itself.
static void count(kernel::Tensor x) { *x.data<float>() = 1; }
EXPORT_KERNEL(count, count);
static void values(kernel::Tensor x) { *x.data<float>() = 2; }
EXPORT_KERNEL(values, values);
static void result(kernel::Tensor x) { *x.data<float>() = 3; }
EXPORT_KERNEL(result, result);
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> tvm_ffi.Module:
    folder = tmp_path_factory.mktemp("header")
    submission = Submission({"model_new.py": b"", "kernels/a.cpp": SOURCE})
    result, library = build_submission(submission, target=Target.CPU, sandbox=ProcessSandbox(), folder=folder)
    assert result.status is BuildStatus.OK, result
    return tvm_ffi.load_module(str(library))


def test_every_kind_of_argument_arrives(kernels: tvm_ffi.Module) -> None:
    x, y = torch.randn(10), torch.empty(10)
    kernels.scale(x, y, 2, 3, True, 0.5, 4)
    torch.testing.assert_close(y, x * 2 + 3 + 1 + 0.5 + 8)
    assert kernels.nothing() is None


def test_a_function_may_have_any_name(kernels: tvm_ffi.Module) -> None:
    x = torch.empty(1)
    for name, written in {"count": 1, "values": 2, "result": 3}.items():
        getattr(kernels, name)(x)
        assert x.item() == written


def test_facts_of_a_tensor(kernels: tvm_ffi.Module) -> None:
    out = torch.empty(12, dtype=torch.int64)
    kernels.describe(torch.empty(4, 6)[:, 1:4], out)
    assert out.tolist() == [2, 4, 3, 6, 1, 12, 0, 1, 0, 4, 1, 0]
    kernels.describe(torch.empty(1, 5, dtype=torch.bfloat16), out)
    assert out.tolist()[5:] == [5, 1, 1, 0, 2, 0, 1]


@pytest.mark.parametrize(
    ("name", "dtype", "fits"),
    [
        ("as_float", torch.float32, True),
        ("as_float", torch.float64, False),
        ("as_float", torch.int32, False),
        ("as_double", torch.float64, True),
        ("as_int64", torch.int64, True),
        ("as_int64", torch.int32, False),
        ("as_bool", torch.bool, True),
        ("as_bool", torch.uint8, False),
        ("as_bits16", torch.float16, True),
        ("as_bits16", torch.bfloat16, True),
        ("as_bits16", torch.float32, False),
        ("as_bfloat16", torch.bfloat16, True),
        ("as_bfloat16", torch.float16, False),
    ],
)
def test_dtypes_are_checked(kernels: tvm_ffi.Module, name: str, dtype: torch.dtype, fits: bool) -> None:
    call = getattr(kernels, name)
    if fits:
        call(torch.zeros(4, dtype=dtype))
        return
    with pytest.raises(TypeError, match=rf"kernels\.{name}: tensor has dtype"):
        call(torch.zeros(4, dtype=dtype))


def test_mistakes_are_readable(kernels: tvm_ffi.Module) -> None:
    x, y = torch.zeros(4), torch.zeros(5)
    with pytest.raises(TypeError, match=r"kernels\.scale: takes 7 arguments, got 2"):
        kernels.scale(x, x)
    with pytest.raises(TypeError, match="argument 2 must be a tensor, got None"):
        kernels.scale(x, None, 1.0, 1, False, 0.0, 0)
    with pytest.raises(TypeError, match="argument 4 must be int, got float"):
        kernels.scale(x, x, 1.0, 1.5, False, 0.0, 0)
    with pytest.raises(ValueError, match="argument 7"):
        kernels.scale(x, x, 1.0, 1, False, 0.0, 1 << 40)
    with pytest.raises(ValueError, match="x has 4, y has 5"):
        kernels.scale(x, y, 1.0, 1, False, 0.0, 0)
    with pytest.raises(ValueError, match="multiple of 32"):
        kernels.as_wide(torch.zeros(17)[1:])
    with pytest.raises(IndexError, match="dimension 3 of a tensor with 1"):
        kernels.outside(x)
    with pytest.raises(RuntimeError, match="thrown here"):
        kernels.throws()


def test_the_cpu_example_is_right(tmp_path: Path) -> None:
    example = freeze_submission(SKILL / "examples" / "cpu")
    _, library = build_submission(example, target=Target.CPU, sandbox=ProcessSandbox(), folder=tmp_path)
    x, scale = torch.randn(7, 5001) * 20, torch.randn(5001)
    out = torch.empty_like(x)
    tvm_ffi.load_module(str(library)).silu_scale(x, scale, out)
    expected = torch.nn.functional.silu(x.double()) * scale.double()
    assert ((out - expected).abs() <= 1e-6 * expected.abs() + 1e-30).all()


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize("columns", [8192, 5001])
def test_the_cuda_example_is_right(tmp_path: Path, columns: int) -> None:
    example = freeze_submission(SKILL / "examples" / "cuda")
    _, library = build_submission(example, target=Target.CUDA, sandbox=ProcessSandbox(), folder=tmp_path)
    module = tvm_ffi.load_module(str(library))
    x, scale = torch.randn(70, columns, device="cuda") * 20, torch.randn(columns, device="cuda")
    out = torch.empty_like(x)
    with torch.cuda.stream(torch.cuda.Stream()):
        module.silu_scale(x, scale, out)
    torch.cuda.synchronize()
    expected = torch.nn.functional.silu(x.double()) * scale.double()
    assert ((out - expected).abs() <= 1e-6 * expected.abs() + 1e-30).all()
    with pytest.raises(ValueError, match="tensor is on cpu"):
        module.silu_scale(x, scale.cpu(), out)
