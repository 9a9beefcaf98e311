from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonical_composed import BINARY, UNARY
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.trace import trace_source
from tests.expert.built import Compiled, compile_sources, draw_tensor
from tests.expert.zoo import write_module

SHAPES = ((1, 1), (3, 37))
SCALES = (1e-4, 0.3, 1.0, 20.0)
FORWARD = (
    "u = x.clamp(-1, 1)\n"
    "return (torch.sinh(x), torch.asinh(x), torch.atanh(u * 0.99), torch.angle(x), torch.isinf(x / 0),"
    " torch.atan(x), torch.asin(u), torch.acos(u), torch.atan2(x, y), torch.hypot(x, y),"
    " torch.copysign(x, y), torch.fmax(x, y.log()), torch.fmin(x.log(), y), torch.fmod(x, 0.7),"
    " torch.remainder(x, 0.3), torch.floor_divide(x, 0.3), torch.lgamma(x),"
    " torch.erfinv(u * 0.999), torch.i0(x / 4), torch.frac(x))"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    sources = {
        f"at{rows}_{columns}": write_module(
            FORWARD, {"x": f"torch.randn({rows}, {columns})", "y": f"torch.randn({rows}, {columns})"}
        )
        for rows, columns in SHAPES
    }
    return compile_sources(sources, Path(tmp_path_factory.mktemp("composed")))


@settings(max_examples=30, deadline=None)
@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 1 << 30), scale=st.sampled_from(SCALES))
def test_compositions_compute_what_torch_does(
    compiled: Compiled, shape: tuple[int, int], seed: int, scale: float
) -> None:
    x, y = draw_tensor(seed, shape, scale=scale), draw_tensor(seed + 1, shape, scale=scale)
    compiled.check(f"at{shape[0]}_{shape[1]}", x, y)


@settings(max_examples=30, deadline=None)
@given(x=st.floats(-100, 100, width=32), y=st.floats(-100, 100, width=32))
def test_single_numbers_too(compiled: Compiled, x: float, y: float) -> None:
    compiled.check("at1_1", torch.tensor([[x]]), torch.tensor([[y]]))


def test_every_step_is_a_word_and_uses_steps_before_it() -> None:
    for name, steps in (UNARY | BINARY).items():
        known = {"x", "y"} if name in BINARY else {"x"}
        for place, (op, operands) in enumerate(steps):
            assert op in ops.POINTWISE, name
            assert {item for item in operands if isinstance(item, str)} <= known, name
            known.add(f"s{place}")


def test_of_whole_numbers_only_remainders_are_written() -> None:
    whole = {"x": "torch.arange(5)"}
    words = {node.op for node in canonicalize(trace_source(write_module("return x % 3", whole))).nodes}
    assert "fmod" in words
    with pytest.raises(UnsupportedError, match="int64"):
        canonicalize(trace_source(write_module("return x // 3", whole)))
