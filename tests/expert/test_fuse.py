"""Plans mean what their modules mean, over shapes that hypothesis draws, in as few kernels as can be."""

from collections.abc import Mapping

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert import fuse
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.fuse import Group, build_steps, fuse_graph
from cuda_agent.expert.layout import Layout
from cuda_agent.expert.plan import Plan, Step
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.built import Planned, define, plan_source
from tests.expert.interpret import interpret
from tests.expert.zoo import write_module


def check(forward: str, inputs: dict[str, str]) -> Plan:
    source = write_module(forward, inputs)
    graph = rewrite_graph(canonicalize(trace_source(source)))
    plan = fuse_graph(graph)
    names = define(source)
    torch.manual_seed(1)
    tensors = [t.double() if t.is_floating_point() else t for t in names["get_inputs"]()]
    expected = names["Model"]().double()(*tensors)
    paths = dict(zip(inputs, tensors, strict=True))
    given_tensors = {f"in{k}": paths[s.path] for k, s in enumerate(graph.sources)}
    got = interpret(plan, given_tensors)
    for one, other in zip(got, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert one.shape == other.shape
        torch.testing.assert_close(one, other.to(one.dtype))
    return plan


sizes = st.integers(1, 5)


@settings(max_examples=3)
@given(shape=st.lists(sizes, min_size=1, max_size=4), ones=st.lists(st.booleans(), min_size=4, max_size=4))
def test_broadcasting_of_any_rank(shape: list[int], ones: list[bool]) -> None:
    other = [1 if one else size for one, size in zip(ones, shape, strict=False)][len(shape) // 2 :]
    plan = check(
        "return torch.exp(x) * y + torch.where(x > y, x, -y)",
        {"x": f"torch.randn({shape})", "y": f"torch.randn({other})"},
    )
    assert 1 <= len(plan.kernels) <= 2


@settings(max_examples=3)
@given(shape=st.lists(sizes, min_size=2, max_size=4), dim=st.integers(0, 3))
def test_softmax_over_any_axis(shape: list[int], dim: int) -> None:
    plan = check(f"return torch.softmax(x * 2, {dim % len(shape)})", {"x": f"torch.randn({shape})"})
    assert len(plan.kernels) == 1


@settings(max_examples=3)
@given(shape=st.lists(sizes, min_size=2, max_size=4), axes=st.integers(1, 3))
def test_layer_norm_over_any_trailing_axes(shape: list[int], axes: int) -> None:
    over = tuple(shape[-min(axes, len(shape) - 1) :])
    plan = check(f"return torch.nn.functional.layer_norm(x, {over}) + x", {"x": f"torch.randn({shape})"})
    assert len(plan.kernels) == 1


@settings(max_examples=3)
@given(
    first=sizes,
    second=sizes,
    third=sizes,
    dim=st.integers(0, 2),
    shape=st.lists(sizes, min_size=3, max_size=3),
)
def test_concatenation_along_any_axis(
    first: int, second: int, third: int, dim: int, shape: list[int]
) -> None:
    parts = []
    for size in (first, second, third):
        parts.append([size if place == dim else other for place, other in enumerate(shape)])
    inputs = {name: f"torch.randn({part})" for name, part in zip("abc", parts, strict=True)}
    check(f"return torch.cat((a * 2, b, -c), {dim}) + 1", inputs)


@settings(max_examples=3)
@given(batch=sizes, heads=sizes, rows=sizes, half=sizes)
def test_heads_and_rotation(batch: int, heads: int, rows: int, half: int) -> None:
    width = 2 * half
    check(
        f"q = x.view({batch}, {rows}, {heads}, {width}).transpose(1, 2)\n"
        "a, b = q.chunk(2, -1)\n"
        "return q * c + torch.cat((-b, a), -1) * (1 - c)",
        {"x": f"torch.randn({batch}, {rows}, {heads * width})", "c": f"torch.randn({rows}, {width})"},
    )


@settings(max_examples=3)
@given(rows=sizes, columns=st.integers(1, 9))
def test_cross_entropy_of_any_size(rows: int, columns: int) -> None:
    plan = check(
        "return F.cross_entropy(x, t)",
        {"x": f"torch.randn({rows}, {columns})", "t": f"torch.randint(0, {columns}, ({rows},))"},
    )
    assert len(plan.kernels) <= 2


ONE_KERNEL = (
    "gelu_bias", "masked_softmax", "layer_norm", "rms_norm", "norm_then_softmax", "cross_entropy", "focal",
    "rotary_half", "cat_then_softmax", "losses", "scalar_result", "batch_norm", "deep_modules",
)  # fmt: skip


@pytest.mark.parametrize("name", ONE_KERNEL)
def test_what_fits_into_one_kernel_is_one(planned: Mapping[str, Planned], name: str) -> None:
    assert len(planned[name].plan.kernels) == 1


def test_a_total_that_many_elements_need_is_stored_first() -> None:
    plan = check("return x / x.sum()", {"x": "torch.rand(200, 300) + 1"})
    assert [len(kernel.totals) for kernel in plan.kernels] == [1, 0]
    assert [buffer.name for buffer in plan.buffers] == ["in0", "out0", "mid0"]
    short = check("return x / x.sum()", {"x": "torch.rand(4, 6) + 1"})
    assert len(short.kernels) == 1


def test_softmax_of_one_long_vector_is_shared_by_all_threads() -> None:
    plan = check("return torch.softmax(x, 0), torch.logsumexp(x, 0)", {"x": "torch.randn(20000)"})
    assert all(kernel.rows > 1 or kernel.totals or not kernel.reductions for kernel in plan.kernels)


def test_a_dear_value_that_many_rows_share_is_computed_once() -> None:
    plan = check("return x * torch.exp(y)", {"x": "torch.randn(9, 6)", "y": "torch.randn(6)"})
    assert len(plan.kernels) == 2
    near = check("return x * torch.exp(y)", {"x": "torch.randn(3, 6)", "y": "torch.randn(6)"})
    assert len(near.kernels) == 1


def test_outputs_that_read_the_same_share_a_kernel() -> None:
    plan = check("return x * y, x + y, (x - y).exp()", {"x": "torch.randn(4, 6)", "y": "torch.randn(6)"})
    assert len(plan.kernels) == 1
    apart = check("return x * 2, y * 2", {"x": "torch.randn(4, 6)", "y": "torch.randn(4, 6)"})
    assert len(apart.kernels) == 2


def test_a_long_module_is_not_looked_at_anew_for_every_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = 12
    body = "for layer in self.layers: x = torch.softmax(layer(x).flip(1), 1)\nreturn x"
    init = f"self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range({layers})])"
    looked: list[Group] = []

    def look(layout: Layout, group: Group) -> list[Step]:
        looked.append(group)
        return build_steps(layout, group)

    monkeypatch.setattr(fuse, "build_steps", look)
    plan = plan_source(write_module(body, {"x": "torch.randn(8, 8)"}, init=init)).plan
    assert len(plan.products) == layers
    assert len(looked) <= 4 * len(plan.steps)
