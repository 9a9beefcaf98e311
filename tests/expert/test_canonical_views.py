import pytest

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.zoo import XY, write_module


def trace_ops(forward: str) -> list[tuple[str, tuple[int, ...]]]:
    graph = rewrite_graph(canonicalize(trace_source(write_module(forward, XY))))
    return [(node.op, node.shape) for node in graph.nodes if node.op != "mul"]


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        ("return x[:, 1] * 2", [("slice", (4, 1, 19)), ("reshape", (4, 19))]),
        ("return x[..., 3:-2:2] * 2", [("slice", (4, 3, 7))]),
        ("return x.transpose(0, -1) * 2", [("permute", (19, 3, 4))]),
        ("return x.unsqueeze(1) * 2", [("reshape", (4, 1, 3, 19))]),
        ("return x.split([5, 14], -1)[1] * 2", [("slice", (4, 3, 14))]),
        ("return x.unbind(1)[2] * 2", [("slice", (4, 1, 19)), ("reshape", (4, 19))]),
        ("return x.contiguous() * 2", []),
        ("return torch.cat((x[:, :0], y), 1) * 2", []),
    ],
)
def test_views(forward: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert trace_ops(forward) == expected


def test_slices_count_from_the_end_and_stop_there() -> None:
    graph = rewrite_graph(canonicalize(trace_source(write_module("return x[..., -4:100] * 2", XY))))
    cut = next(node for node in graph.nodes if node.op == "slice")
    assert (cut.args["start"], cut.shape) == (15, (4, 3, 4))


def test_indexing_that_skips_dimensions_moves_them_to_the_front_and_back() -> None:
    source = write_module("return x[:, :, torch.tensor([1, 0])]", {"x": "torch.randn(2, 3, 4)"})
    graph = canonicalize(trace_source(source))
    assert [node.op for node in graph.nodes][-3:] == ["permute", "index", "permute"]
    assert graph.nodes[-1].shape == (2, 3, 2)
