import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.rewrite_index import MOST_RUNS, find_runs
from cuda_agent.expert.trace import trace_source
from tests.expert.interpret import check_meaning
from tests.expert.zoo import write_module


@given(values=st.lists(st.integers(-50, 50), max_size=40))
def test_runs_give_the_values_back(values: list[int]) -> None:
    assert [start + step * k for start, step, length in find_runs(values) for k in range(length)] == values


def test_a_line_is_one_run() -> None:
    assert find_runs([7, 6, 5, 4]) == [(7, -1, 4)]
    assert find_runs([2, 1, 0, 1, 2, 3]) == [(2, -1, 3), (1, 1, 3)]
    assert find_runs([0, 0, 0, 1, 2]) == [(0, 0, 3), (1, 1, 2)]


@settings(max_examples=8, deadline=None)
@given(
    mode=st.sampled_from(["reflect", "replicate"]),
    pads=st.tuples(*[st.integers(0, 3)] * 4),
    height=st.integers(4, 6),
    width=st.integers(4, 9),
)
def test_padding_is_slices(mode: str, pads: tuple[int, ...], height: int, width: int) -> None:
    forward = f"return F.pad(x, {pads}, mode='{mode}') * 2"
    source = write_module(forward, {"x": f"torch.randn(2, 3, {height}, {width})"})
    assert "index" not in check_meaning(source)


@pytest.mark.parametrize("forward", ["return x[:, self.i] + 1", "return x[self.j] + 1"])
def test_what_is_data_or_has_many_runs_stays_an_index(forward: str) -> None:
    init = (
        "self.i = nn.Parameter(torch.tensor([1, 0]), requires_grad=False)\n"
        f"self.j = torch.arange({4 * MOST_RUNS}) ** 2 % 5"
    )
    source = write_module(forward, {"x": "torch.randn(5, 4)"}, init=init)
    graph = rewrite_graph(canonicalize(trace_source(source)))
    assert "index" in [node.op for node in graph.nodes]
