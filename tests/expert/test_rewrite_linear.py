"""Rewrites of products apply where they should, and leave every value as it was, for any shapes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.fuse import fuse_graph
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.built import define
from tests.expert.interpret import interpret
from tests.expert.zoo import write_module

sizes = st.integers(2, 6)


def rewrite(forward: str, inputs: dict[str, str]) -> Graph:
    """The rewritten graph, after its plan was found to compute the same as torch in float64."""
    source = write_module(forward, inputs)
    graph = rewrite_graph(canonicalize(trace_source(source)))
    names = define(source)
    tensors = [t.double() if t.is_floating_point() else t for t in names["get_inputs"]()]
    paths = dict(zip(inputs, tensors, strict=True))
    given_tensors = {f"in{k}": paths[s.path] for k, s in enumerate(graph.sources)}
    (got,) = interpret(fuse_graph(graph), given_tensors)
    torch.testing.assert_close(got, names["Model"]().double()(*tensors).double())
    return graph


def count(graph: Graph, op: str) -> int:
    return sum(node.op == op for node in graph.nodes)


@settings(max_examples=4, deadline=None)
@given(size=sizes, other=sizes)
def test_a_diagonal_matrix_scales(size: int, other: int) -> None:
    inputs = {"d": f"torch.randn({size})", "x": f"torch.randn({size}, {other})"}
    for forward in ("return torch.diag(d) @ x", "return x.T @ torch.diag(d)"):
        graph = rewrite(forward, inputs)
        assert (count(graph, "matmul"), count(graph, "eq"), count(graph, "mul")) == (0, 0, 1)


def test_a_matrix_beside_a_diagonal_is_not_taken_for_one() -> None:
    inputs = {"d": "torch.randn(4)", "x": "torch.randn(4, 4)"}
    assert count(rewrite("return (torch.diag(d) + 1) @ x", inputs), "matmul") == 1
    shifted = "m = torch.arange(4) == torch.arange(4).unsqueeze(1) + 1\n"
    assert count(rewrite(f"{shifted}return torch.where(m, d, 0.0) @ x", inputs), "matmul") == 1
    assert count(rewrite("return torch.where(torch.eye(4) == 1, x, 0.0) @ x", inputs), "matmul") == 1


@settings(max_examples=4, deadline=None)
@given(rows=sizes, depth=sizes, cols=sizes)
def test_one_hot_rows_pick(rows: int, depth: int, cols: int) -> None:
    inputs = {"i": f"torch.randint(-2, {depth + 2}, ({rows},))", "w": f"torch.randn({depth}, {cols})"}
    graph = rewrite(f"return (i.unsqueeze(-1) == torch.arange({depth})).to(w.dtype) @ w", inputs)
    assert (count(graph, "matmul"), count(graph, "index")) == (0, 1)


@settings(max_examples=4, deadline=None)
@given(rows=sizes, depth=sizes, cols=sizes, dim=st.integers(0, 1))
def test_a_sum_goes_before_the_product(rows: int, depth: int, cols: int, dim: int) -> None:
    inputs = {"x": f"torch.randn({rows}, {depth})", "w": f"torch.randn({cols}, {depth})"}
    graph = rewrite(f"return ((x @ w.T) / 2).sum({dim}, keepdim=True) * 1.5", inputs)
    assert (count(graph, "matmul"), count(graph, "sum")) == (0, 2)
    assert all(node.numel <= depth * max(rows, cols) for node in graph.nodes)


def test_a_product_that_others_read_is_summed_as_it_is() -> None:
    inputs = {"x": "torch.randn(4, 5)", "w": "torch.randn(5, 6)"}
    graph = rewrite("y = x @ w\nreturn y * y.sum(1, keepdim=True)", inputs)
    assert (count(graph, "matmul"), count(graph, "sum")) == (1, 1)


@settings(max_examples=4, deadline=None)
@given(batch=sizes, rows=sizes, depth=sizes)
def test_a_product_with_one_row_or_column_is_a_sum(batch: int, rows: int, depth: int) -> None:
    inputs = {"x": f"torch.randn({batch}, {rows}, {depth})", "y": f"torch.randn({batch}, {depth}, 1)"}
    for forward in ("return torch.bmm(x, y)", "return torch.bmm(y.transpose(1, 2), x.transpose(1, 2))"):
        assert count(rewrite(forward, inputs), "matmul") == 0


@pytest.mark.parametrize(("rows", "is_cheaper"), [(40, True), (3, False)])
def test_two_products_become_one_where_that_is_cheaper(rows: int, is_cheaper: bool) -> None:
    inputs = {"x": f"torch.randn({rows}, 4)", "a": "torch.randn(4, 30)", "b": "torch.randn(30, 5)"}
    graph = rewrite("return (x @ a) @ b", inputs)
    assert (
        (4, 5) in [node.shape for node in graph.nodes] if is_cheaper else (4, 5) not in graph.shapes.values()
    )
