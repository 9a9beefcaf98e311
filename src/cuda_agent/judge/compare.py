"""Are these outputs right: chunked, exact about form, calibrated about values.

For a floating output with exact values r (float64), eager's values e at the declared precision and the
submission's values c, element i may differ from r by

    tol_i = B * |r_i| + K * max(q, |e_i - r_i|)      q = the 99th percentile of |e - r|

B is a small multiple of the dtype's epsilon that allows for another order of summation (a plain running
sum of n terms errs by about sqrt(n) epsilon, and sums of more than a thousand terms are split). K allows
for honest differences between two ways of computing, while the next lower precision, whose error is
hundreds of times eager's, is still refused: K = 16, and 3 for the 16-bit types, where eager's error is for
the most part the rounding of its own output and the next lower precision is only eight times as coarse.
The percentile covers values near zero that are small differences of large ones; taking eager's own error
element by element keeps an ill-conditioned element from loosening the tolerance of all others. Under a
fixed policy, tol_i = atol + rtol * |r_i|.

Most elements need no float64. With m_i = max(q, |e_i - r_i|), |c_i - r_i| <= |c_i - e_i| + m_i and
|r_i| >= |e_i| - m_i, so that an element is within its tolerance whenever

    |c_i - e_i| <= B * |e_i| + (K - 1 - B) * q

which is looked at first, a run of elements at a time, in float32; only runs where it fails somewhere are
compared in float64.
"""

import functools
import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Self

import torch

from cuda_agent.config import Record
from cuda_agent.judge.policy import JudgePolicy, Tolerance
from cuda_agent.judge.result import Mismatch, VerifyStatus
from cuda_agent.judge.tree import Node, NodeKind

_CPU_CHUNK = 1 << 14
_CUDA_CHUNK = 1 << 25
_CUDA_LEAST = 1 << 20
_CPU_RUN = 1 << 18
_SAFETY = 0.99
"""Of the sufficient bound, for its rounding in float32."""
_K_WIDE, _K_NARROW = 16.0, 3.0
_WIDE = (torch.float32, torch.float64, torch.complex64, torch.complex128)
_QUANTILE = 0.99
_SAMPLE = 1 << 18


class Finding(Record):
    """What comparing one set of outputs found."""

    status: VerifyStatus
    """OK, or how it is wrong."""
    reason: str = ""
    """One sentence."""
    mismatch: Mismatch | None = None
    """Where, when a value is wrong."""
    error: float = 0.0
    """Largest error as a fraction of its tolerance, or an upper bound of it."""


def compare_form(expected: Node, got: Node, *, path: str = "out") -> Finding | None:
    """The first difference in structure, shape or dtype, or None."""
    if expected.kind is not got.kind or expected.keys != got.keys:
        return Finding(
            status=VerifyStatus.WRONG_STRUCTURE,
            reason=f"{path} is {_describe(got)}, the reference returns {_describe(expected)}",
        )
    if expected.kind is NodeKind.TENSOR:
        return _compare_tensor_form(expected, got, path=path)
    if expected.kind is NodeKind.SCALAR and not _same_scalar(expected.scalar, got.scalar):
        return Finding(
            status=VerifyStatus.MISMATCH, reason=f"{path} is {got.scalar!r}, not {expected.scalar!r}"
        )
    if len(expected.children) != len(got.children):
        return Finding(
            status=VerifyStatus.WRONG_STRUCTURE,
            reason=f"{path} has {len(got.children)} parts, the reference returns {len(expected.children)}",
        )
    names = expected.keys or range(len(expected.children))
    parts = zip(names, expected.children, got.children, strict=True)
    found = (compare_form(e, g, path=f"{path}[{name!r}]") for name, e, g in parts)
    return next((finding for finding in found if finding is not None), None)


class Wanted(NamedTuple):
    """What one output should be."""

    exact: torch.Tensor
    """Float64 values (eager's own where float64 does not work)."""
    eager: torch.Tensor
    """The reference's values as it stands, of the dtype that a submission must match."""
    free: torch.Tensor | None = None
    """Which whole numbers are a choice among equals, and not compared; None where none is."""


def compare_tensor(
    got: torch.Tensor, wanted: Wanted, *, policy: JudgePolicy, path: str, reduction: float
) -> Finding:
    """Compare one output's values.

    Args:
        got: the submission's values.
        wanted: what they should be, of the same shape.
        policy: which tolerance.
        path: how to name the output.
        reduction: how many elements one output element may sum up, at most.
    """
    if not got.is_floating_point() and not got.is_complex():
        return _compare_exactly(got, wanted.eager, free=wanted.free, path=path)
    got, exact, eager = (_view_real(value) for value in (got, wanted.exact, wanted.eager))
    shape = eager.shape
    got, exact, eager = got.reshape(-1), exact.reshape(-1), eager.reshape(-1)
    scale = _Scale(
        relative=_compute_relative(got.dtype, reduction),
        spread=_estimate_spread(exact, eager) if policy.tolerance is Tolerance.CALIBRATED else 0.0,
        factor=_K_WIDE if got.dtype in _WIDE else _K_NARROW,
    )
    tally = _tally_up(got, exact, eager=eager, policy=policy, scale=scale)
    if tally.first is None:
        return Finding(status=VerifyStatus.OK, error=tally.worst)
    return _report(path, shape, tally=tally)


class _Chunk(NamedTuple):
    """A run of elements: the submission's, the exact and eager's values, all in float64."""

    start: int
    c: torch.Tensor
    r: torch.Tensor
    e: torch.Tensor


class _Scale(NamedTuple):
    """What the tolerance of a whole output is made of: B, q and K."""

    relative: float
    spread: float
    factor: float


class _Tally:
    """What has been found so far, chunk by chunk."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.differing = 0
        self.first: tuple[int, float, float, float] | None = None
        self.is_odd = False

    def add(self, chunk: _Chunk, tolerance: torch.Tensor) -> None:
        start, c, r, e = chunk
        excess = (c - r).abs_().div_(tolerance)
        finite = torch.isfinite(e)
        worst = float(excess.max())
        if worst <= 1.0 and bool(finite.all()):  # a NaN is not <= 1
            self.worst = max(self.worst, worst)
            return
        same_odd = torch.where(torch.isnan(e), torch.isnan(c), c == e)
        wrong = torch.where(finite, ~(excess <= 1.0), ~same_odd)
        count = int(wrong.sum())
        if count and self.first is None:
            at = int(torch.nonzero(wrong)[0])
            expected = float(r[at] if finite[at] else e[at])
            self.first = (start + at, float(c[at]), expected, float(tolerance[at]))
            self.is_odd = not bool(finite[at]) or not math.isfinite(float(c[at]))
        self.differing += count

    def merge(self, later: Self) -> Self:
        """Take in what a later run of chunks found."""
        self.worst = max(self.worst, later.worst)
        self.differing += later.differing
        if self.first is None:
            self.first, self.is_odd = later.first, later.is_odd
        return self


def _compute_relative(dtype: torch.dtype, reduction: float) -> float:
    epsilon = torch.finfo(dtype).eps
    if dtype in _WIDE:
        return epsilon * (16.0 + min(math.sqrt(reduction), 32.0) + math.log2(max(reduction, 1.0)))
    return 2.0 * epsilon


def _estimate_spread(exact: torch.Tensor, eager: torch.Tensor) -> float:
    step = max(1, exact.numel() // _SAMPLE)
    r, e = exact[::step].double(), eager[::step].double()
    error = (e - r).abs()
    error = error[torch.isfinite(error)]
    above = math.ceil((1.0 - _QUANTILE) * error.numel())
    return float(error.topk(above, sorted=False).values.min()) if error.numel() else 0.0


def _compute_tolerance(chunk: _Chunk, policy: JudgePolicy, *, scale: _Scale) -> torch.Tensor:
    _, _, r, e = chunk
    if policy.tolerance is Tolerance.FIXED:
        return policy.atol + policy.rtol * r.abs()
    tiny = torch.finfo(torch.float64).tiny
    return scale.relative * r.abs() + scale.factor * (e - r).abs().clamp_(min=scale.spread) + tiny


def _tally_up(
    got: torch.Tensor, exact: torch.Tensor, *, eager: torch.Tensor, policy: JudgePolicy, scale: _Scale
) -> _Tally:
    tally, doubtful = _Tally(), []
    for run in _split(0, got.numel(), length=_choose_length(got, _CPU_RUN)):
        part = slice(*run)
        calibrated = policy.tolerance is Tolerance.CALIBRATED
        share = _bound_share(got[part], eager[part], scale=scale) if calibrated else math.inf
        if share <= 1.0:  # a NaN is not
            tally.worst = max(tally.worst, share)
        else:
            doubtful.append(run)

    def tally_run(run: tuple[int, int]) -> _Tally:
        found = _Tally()
        for chunk in _iterate_chunks(got, exact, eager=eager, run=run):
            found.add(chunk, _compute_tolerance(chunk, policy, scale=scale))
        return found

    # Small chunks stay in a core's cache, and torch uses one thread for each.
    with ThreadPoolExecutor(1 if got.is_cuda else len(os.sched_getaffinity(0))) as pool:
        return functools.reduce(_Tally.merge, pool.map(tally_run, doubtful), tally)


def _bound_share(c: torch.Tensor, e: torch.Tensor, *, scale: _Scale) -> float:
    """The largest difference from eager as a fraction of what is surely allowed; NaN where one is odd."""
    dtype = torch.promote_types(c.dtype, torch.float32)
    c, e = c.to(dtype, copy=True), e.to(dtype)
    allowed = e.abs().mul_(_SAFETY * scale.relative)
    allowed.add_(_SAFETY * (scale.factor - 1.0 - scale.relative) * scale.spread + torch.finfo(dtype).tiny)
    return float(c.sub_(e).abs_().div_(allowed).max())


def _choose_length(got: torch.Tensor, on_cpu: int) -> int:
    """Elements to compare at a time: on a GPU many, but of a large output no more than a sixteenth."""
    return min(max(got.numel() // 16, _CUDA_LEAST), _CUDA_CHUNK) if got.is_cuda else on_cpu


def _split(start: int, end: int, *, length: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, length):
        yield at, min(at + length, end)


def _iterate_chunks(
    got: torch.Tensor, exact: torch.Tensor, *, eager: torch.Tensor, run: tuple[int, int]
) -> Iterator[_Chunk]:
    for start, end in _split(*run, length=_choose_length(got, _CPU_CHUNK)):
        part = slice(start, end)
        yield _Chunk(
            start, got[part].to(torch.float64, copy=True), exact[part].double(), eager[part].double()
        )


def _compare_exactly(
    got: torch.Tensor, eager: torch.Tensor, *, free: torch.Tensor | None, path: str
) -> Finding:
    tally, c, e = _Tally(), _as_bytes(got), _as_bytes(eager)
    for start, end in _split(0, c.numel(), length=_choose_length(c, _CPU_RUN)):
        read = c[start:end].clone()
        wrong = read != e[start:end]
        if free is not None:
            wrong &= ~free.reshape(-1)[start:end]
        count = int(wrong.sum())
        if count and tally.first is None:
            at = int(torch.nonzero(wrong)[0])
            tally.first = (start + at, float(read[at]), float(e[start + at]), 0.0)
        tally.differing += count
    return Finding(status=VerifyStatus.OK) if tally.first is None else _report(path, eager.shape, tally=tally)


def _report(path: str, shape: torch.Size, *, tally: _Tally) -> Finding:
    assert tally.first is not None
    at, got, expected, tolerance = tally.first
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(at), shape)) if shape else ()
    mismatch = Mismatch(
        output=path,
        index=index,
        got=got,
        expected=expected,
        tolerance=tolerance,
        differing=tally.differing,
        total=math.prod(shape),
    )
    where = f"{path}[{', '.join(map(str, index))}]" if index else path
    return Finding(
        status=VerifyStatus.NON_FINITE if tally.is_odd else VerifyStatus.MISMATCH,
        reason=f"{where} is {got:.9g}, expected {expected:.9g} within {tolerance:.3g}; "
        f"{tally.differing} of {math.prod(shape)} elements differ",
        mismatch=mismatch,
    )


def _compare_tensor_form(expected: Node, got: Node, *, path: str) -> Finding | None:
    if expected.dtype != got.dtype:
        return Finding(
            status=VerifyStatus.WRONG_DTYPE,
            reason=f"{path} is {got.dtype}, the reference returns {expected.dtype}",
        )
    if expected.shape != got.shape:
        return Finding(
            status=VerifyStatus.WRONG_SHAPE,
            reason=f"{path} has shape {list(got.shape)}, the reference returns {list(expected.shape)}",
        )
    return None


def _describe(node: Node) -> str:
    if node.kind is NodeKind.DICT:
        return f"a dict with keys {list(node.keys)}"
    return {NodeKind.SCALAR: repr(node.scalar)}.get(node.kind, f"a {node.kind.value}")


def _same_scalar(expected: object, got: object) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(expected, got, rel_tol=1e-6) or (math.isnan(expected) and math.isnan(got))
    return type(expected) is type(got) and expected == got


def _view_real(value: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(value) if value.is_complex() else value


def _as_bytes(value: torch.Tensor) -> torch.Tensor:
    flat = value.reshape(-1)
    return flat.view(torch.uint8) if flat.dtype is torch.bool else flat
