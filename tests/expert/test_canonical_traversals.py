from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.trace import trace_source
from tests.expert.built import Compiled, compile_sources, draw_tensor
from tests.expert.zoo import write_module

SHAPES = ((1, 1), (9, 5), (3, 300))
FORWARD = (
    "return (x.cumsum(-1), x.cumsum(0), x.cumprod(1), torch.cummax(x, -1)[0], torch.cummin(x, 0)[0],"
    " torch.logcumsumexp(x, 1), torch.logcumsumexp(x, 0), x.sort(-1)[0], x.sort(0, descending=True)[0],"
    " x.kthvalue(1)[0], x.median(-1)[0], x.argmax(-1), x.argmin(0), x.max(1)[1], x.topk(1, dim=0)[0])"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    sources = {f"at{a}_{b}": write_module(FORWARD, {"x": f"torch.randn({a}, {b})"}) for a, b in SHAPES}
    return compile_sources(sources, Path(tmp_path_factory.mktemp("traversals")))


@settings(max_examples=40, deadline=None)
@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 1 << 30), scale=st.sampled_from([0.01, 1.0, 60.0]))
def test_lines_are_gone_along_as_torch_does(
    compiled: Compiled, shape: tuple[int, int], seed: int, scale: float
) -> None:
    compiled.check(f"at{shape[0]}_{shape[1]}", draw_tensor(seed, shape, scale=scale))


def test_nan_and_infinity_go_where_torch_puts_them(compiled: Compiled) -> None:
    x = draw_tensor(1, (9, 5), scale=1.0)
    x[2, 1], x[4, 1], x[5, 3], x[0, 0] = float("nan"), float("inf"), float("-inf"), float("nan")
    compiled.check("at9_5", x)


@pytest.mark.parametrize("forward", ["return x.half().cumsum(0)", "return x.double().sort()[0]"])
def test_other_dtypes_are_refused(forward: str) -> None:
    with pytest.raises(UnsupportedError, match="beyond me"):
        canonicalize(trace_source(write_module(forward, {"x": "torch.randn(5)"})))


def test_a_number_is_its_own_sum() -> None:
    graph = canonicalize(trace_source(write_module("return x.cumsum(0) + 1", {"x": "torch.randn(())"})))
    assert [node.op for node in graph.nodes] == ["add"]
    assert torch.tensor(2.0).cumsum(0) == 2
