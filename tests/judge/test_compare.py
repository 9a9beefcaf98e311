"""Junk and lower precision fail, other honest ways of computing pass."""

import math
from collections.abc import Callable

import pytest
import torch

from cuda_agent.judge import compare as compare_module
from cuda_agent.judge.compare import Finding, Wanted, compare_form, compare_tensor
from cuda_agent.judge.inputs import VARIANTS, reshape_distribution
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.judge.tree import describe_value

STRICT, PAPER = load_policy("strict"), load_policy("paper")


def compare(
    got: torch.Tensor, exact: torch.Tensor, *, eager: torch.Tensor, reduction: float = 1024
) -> Finding:
    return compare_tensor(got, Wanted(exact, eager), policy=STRICT, path="out", reduction=reduction)


def judge_function(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    x = torch.rand(64, 65536)
    functions: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "softmax": lambda v: torch.softmax(v, -1),
        "frobenius": lambda v: v / v.pow(2).sum().sqrt(),
        "l2": lambda v: v / v.pow(2).sum(-1, keepdim=True).sqrt(),
        "min": lambda v: v.amin(-1),
    }
    return functions[name](x.double()), functions[name](x)


@pytest.mark.parametrize("name", ["softmax", "frobenius", "l2", "min"])
def test_zeros_fail_where_a_fixed_tolerance_passes_them(name: str) -> None:
    exact, eager = judge_function(name)
    zeros = torch.zeros_like(eager)
    assert compare(eager, exact, eager=eager).status is VerifyStatus.OK
    assert compare(zeros, exact, eager=eager).status is VerifyStatus.MISMATCH
    fixed = compare_tensor(zeros, Wanted(exact, eager), policy=PAPER, path="out", reduction=1)
    assert fixed.status is VerifyStatus.OK


@pytest.mark.parametrize("name", ["softmax", "l2"])
def test_constant_stale_and_permuted_outputs_fail(name: str) -> None:
    exact, eager = judge_function(name)
    for junk in (torch.full_like(eager, float(eager.mean())), eager.flip(0), eager.roll(1, -1)):
        assert compare(junk, exact, eager=eager).status is VerifyStatus.MISMATCH


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_lower_precision_fails_in_a_float32_task(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(256, 1024), torch.randn(1024, 256)
    exact, eager = a.double() @ b.double(), a @ b
    low = (a.to(dtype).float() @ b.to(dtype).float()).float()
    assert compare(low, exact, eager=eager).status is VerifyStatus.MISMATCH
    assert compare(eager.to(dtype).float(), exact, eager=eager).status is VerifyStatus.MISMATCH


def test_tf32_fails_in_a_float32_task() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(256, 1024), torch.randn(1024, 256)

    def chop(value: torch.Tensor) -> torch.Tensor:
        return (value.view(torch.int32) & ~0x1FFF).view(torch.float32)

    exact, eager = a.double() @ b.double(), a @ b
    assert compare(chop(a) @ chop(b), exact, eager=eager).status is VerifyStatus.MISMATCH


def test_bfloat16_fails_in_a_float16_task() -> None:
    torch.manual_seed(0)
    x = torch.randn(1 << 16).half()
    exact, eager = torch.tanh(x.double()), torch.tanh(x)
    assert compare(torch.tanh(x.bfloat16()).half(), exact, eager=eager).status is VerifyStatus.MISMATCH
    assert compare(torch.tanh(x.float()).half(), exact, eager=eager).status is VerifyStatus.OK


def test_other_orders_of_summation_pass() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(128, 8192), torch.randn(8192, 128)
    exact, eager = a.double() @ b.double(), a @ b
    split = sum(a[:, k : k + 512] @ b[k : k + 512] for k in range(0, 8192, 512))
    sequential = torch.zeros(128, 128)
    for k in range(8192):
        sequential += a[:, k, None] * b[k]
    assert isinstance(split, torch.Tensor)
    for other in (split, sequential):
        assert compare(other, exact, eager=eager).status is VerifyStatus.OK


def test_a_full_reduction_by_threads_passes_and_a_partial_one_fails() -> None:
    torch.manual_seed(0)
    partly_right = 0
    for variant in range(VARIANTS):
        x = reshape_distribution(torch.rand(4096, 1024), variant)
        exact, eager = x.double().mean(), x.mean()
        by_thread = x.cumsum(-1)[:, -1].cumsum(0)[-1] / x.numel()
        partial = x[: int(len(x) * 0.99)].mean()
        assert compare(by_thread, exact, eager=eager, reduction=x.numel()).status is VerifyStatus.OK
        partly_right += compare(partial, exact, eager=eager, reduction=x.numel()).status is VerifyStatus.OK
    assert partly_right <= 2


def test_one_wrong_element_is_found_and_named() -> None:
    eager = torch.arange(12.0).reshape(3, 4) + 1
    got = eager.clone()
    got[1, 2] += 1e-2
    finding = compare(got, eager.double(), eager=eager)
    assert finding.status is VerifyStatus.MISMATCH
    assert finding.mismatch is not None
    assert (finding.mismatch.index, finding.mismatch.differing, finding.mismatch.total) == ((1, 2), 1, 12)
    assert finding.reason.startswith("out[1, 2] is 7.01")


def test_one_ill_conditioned_element_does_not_loosen_the_others() -> None:
    eager = torch.ones(10_000)
    eager[0] = 1.5
    exact = torch.ones(10_000, dtype=torch.float64)
    assert compare(eager, exact, eager=eager).status is VerifyStatus.OK
    got = eager.clone()
    got[5] = 1.001
    assert compare(got, exact, eager=eager).status is VerifyStatus.MISMATCH


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_non_finite_values_pass_only_where_the_reference_has_the_same(odd: float) -> None:
    eager = torch.ones(10)
    eager[3] = odd
    exact = eager.double()
    assert compare(eager.clone(), exact, eager=eager).status is VerifyStatus.OK
    assert compare(torch.ones(10), exact, eager=eager).status is VerifyStatus.NON_FINITE
    everywhere = torch.full((10,), odd)
    assert compare(everywhere, exact, eager=eager).status is VerifyStatus.NON_FINITE
    assert (
        compare(everywhere, torch.ones(10).double(), eager=torch.ones(10)).status is VerifyStatus.NON_FINITE
    )


def test_an_overflow_of_eager_alone_must_be_matched() -> None:
    eager = torch.tensor([1.0, math.inf])
    exact = torch.tensor([1.0, 1e39], dtype=torch.float64)
    assert compare(eager.clone(), exact, eager=eager).status is VerifyStatus.OK
    assert compare(torch.tensor([1.0, 5.0]), exact, eager=eager).status is VerifyStatus.NON_FINITE


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
def test_whole_numbers_must_be_equal(dtype: torch.dtype) -> None:
    eager = (torch.arange(8) % 2).to(dtype)
    assert compare(eager.clone(), eager, eager=eager).status is VerifyStatus.OK
    got = eager.clone()
    got[5] = 0
    assert compare(got, eager, eager=eager).status is VerifyStatus.MISMATCH


def test_empty_outputs_are_right() -> None:
    empty = torch.empty(0, 3)
    assert compare(empty, empty.double(), eager=empty).status is VerifyStatus.OK


@pytest.mark.parametrize(
    ("got", "status"),
    [
        ([torch.zeros(2, 3), {"a": torch.zeros(1)}], None),
        ((torch.zeros(2, 3), {"a": torch.zeros(1)}), VerifyStatus.WRONG_STRUCTURE),
        ([torch.zeros(2, 3), {"b": torch.zeros(1)}], VerifyStatus.WRONG_STRUCTURE),
        ([torch.zeros(2, 3)], VerifyStatus.WRONG_STRUCTURE),
        (torch.zeros(2, 3), VerifyStatus.WRONG_STRUCTURE),
        ([torch.zeros(3, 2), {"a": torch.zeros(1)}], VerifyStatus.WRONG_SHAPE),
        ([torch.zeros(2, 3).double(), {"a": torch.zeros(1)}], VerifyStatus.WRONG_DTYPE),
        ([torch.zeros(2, 3), {"a": None}], VerifyStatus.WRONG_STRUCTURE),
    ],
)
def test_form_is_exact(got: object, status: VerifyStatus | None) -> None:
    expected = describe_value([torch.zeros(2, 3), {"a": torch.zeros(1)}])[0]
    finding = compare_form(expected, describe_value(got)[0])
    assert (finding.status if finding else None) == status


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("factor", [0.3, 0.9, 1.1, 3.0])
def test_the_quick_bound_changes_no_verdict(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, factor: float
) -> None:
    torch.manual_seed(3)
    exact = torch.randn(300_000, dtype=torch.float64)
    eager, at = exact.to(dtype), 123_456
    far = eager.clone()
    far[at] += 1000
    mismatch = compare(far, exact, eager=eager).mismatch
    assert mismatch is not None
    got = eager.clone()
    got[at] = exact[at] + factor * mismatch.tolerance
    quick = compare(got, exact, eager=eager)
    monkeypatch.setattr(compare_module, "_bound_share", lambda c, e, scale: float("inf"))
    slow = compare(got, exact, eager=eager)
    assert (quick.status, quick.mismatch) == (slow.status, slow.mismatch)


def test_whole_numbers_are_compared_unless_they_are_free() -> None:
    eager, free = torch.tensor([3, 5, 7]), torch.tensor([False, True, False])

    def judge(*got: int) -> VerifyStatus:
        value = torch.tensor(got)
        wanted = Wanted(eager.double(), eager, free)
        found = compare_tensor(value, wanted, policy=STRICT, path="out", reduction=1)
        return found.status

    assert judge(3, 5, 7) is VerifyStatus.OK
    assert judge(3, 9, 7) is VerifyStatus.OK
    assert judge(4, 5, 7) is VerifyStatus.MISMATCH
