import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonical_windows import Window, spread
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.trace import trace_source
from tests.expert.interpret import check_meaning
from tests.expert.zoo import IMAGE, write_module
from tests.expert.zoo_linear import ZOO_LINEAR


def count(graph: Graph, op: str) -> int:
    return sum(node.op == op for node in graph.nodes)


def test_windows_are_counted_as_torch_counts_them() -> None:
    window = Window(sizes=(3, 2), strides=(2, 1), pads=(1, 0), dilations=(1, 2))
    assert window.count_windows((6, 5, 7)) == (3, 5)


def test_one_number_stands_for_every_dimension() -> None:
    assert spread((3,), 2, default=1) == (3, 3)
    assert spread((), 2, default=1) == (1, 1)
    assert spread((3, 4), 2, default=1) == (3, 4)


def test_a_convolution_is_a_product_and_one_of_channels_is_a_sum() -> None:
    assert count(canonicalize(trace_source(ZOO_LINEAR["convolution_groups"])), "matmul") == 1
    graph = canonicalize(trace_source(ZOO_LINEAR["convolution_channels"]))
    assert (count(graph, "matmul"), count(graph, "mul")) == (0, 10)


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        ("return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)", "does not count its padding"),
        ("return F.max_pool2d(x, 2, ceil_mode=True)", "incomplete windows"),
        ("return F.adaptive_avg_pool2d(x, (5, 17))", "17 blocks of several sizes"),
        ("return F.conv_transpose2d(x, torch.ones(6, 2, 3, 3), stride=2, dilation=2)", "stride and dilation"),
        ("return F.max_pool2d(x, 2, return_indices=True)[1]", "further results"),
    ],
)
def test_what_cannot_be_written_is_said(forward: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        canonicalize(trace_source(write_module(forward, IMAGE)))


@settings(max_examples=8, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    pad=st.integers(0, 1),
    groups=st.sampled_from([1, 2, 4]),
)
def test_transposed_convolutions_are_plain_ones_by_phase(
    sizes: tuple[int, int], strides: tuple[int, int], pad: int, groups: int
) -> None:
    forward = f"return F.conv_transpose2d(x, w, stride={strides}, padding={pad}, groups={groups}) + 1"
    weight = f"torch.randn(4, {8 // groups}, {sizes[0]}, {sizes[1]})"
    words = check_meaning(write_module(forward, {"x": "torch.randn(2, 4, 5, 6)", "w": weight}))
    assert "cat" in words or strides == (1, 1)


@settings(max_examples=8, deadline=None)
@given(counts=st.tuples(st.integers(1, 7), st.integers(1, 9)), kind=st.sampled_from(["avg", "max"]))
def test_adaptive_pooling_into_blocks_of_any_size(counts: tuple[int, int], kind: str) -> None:
    forward = f"return F.adaptive_{kind}_pool2d(x, {counts}) * 2"
    check_meaning(write_module(forward, {"x": "torch.randn(2, 3, 7, 9)"}))
