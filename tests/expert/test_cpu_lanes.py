from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cpu_lanes import CpuLanes, find_varying
from cuda_agent.expert.emit_cpu import emit_cpu
from cuda_agent.expert.side_by_side import suits_lanes
from tests.expert.built import Compiled, Planned, compile_sources, draw_tensor
from tests.expert.zoo import write_module

SHAPES = ((2, 5, 9), (1, 150, 16), (3, 1, 8))
FORWARD = (
    "return (torch.softmax(x, 1), x.sum(1), x.amax(1), x.var(1, unbiased=False), (x > 0).all(1),"
    " torch.softmax(x, 1).amax(1).sum(), (x * x).sum((0, 1)))"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    sources = {
        f"at{a}_{b}_{c}": write_module(FORWARD, {"x": f"torch.randn({a}, {b}, {c})"}) for a, b, c in SHAPES
    }
    return compile_sources(sources, Path(tmp_path_factory.mktemp("lanes")))


@settings(max_examples=30, deadline=None)
@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 1 << 30), scale=st.sampled_from([0.01, 1.0, 60.0]))
def test_rows_side_by_side_are_reduced_as_torch_does(
    compiled: Compiled, shape: tuple[int, int, int], seed: int, scale: float
) -> None:
    compiled.check("at{}_{}_{}".format(*shape), draw_tensor(seed, shape, scale=scale))


def test_what_all_rows_share_is_no_vector(planned: Mapping[str, Planned]) -> None:
    kernel = planned["bags"].plan.kernels[0]
    assert suits_lanes(kernel)
    varying = find_varying(kernel)
    picks = [number for number, value in enumerate(kernel.values) if value.op == "pick"]
    assert picks
    assert not any(varying[number] for number in picks)


def test_columns_are_loops_and_rows_vectors(planned: Mapping[str, Planned]) -> None:
    plan = planned["softmax_across"].plan
    text = CpuLanes(plan.kernels[0], plan, choice=Choice()).write()
    assert "gather(" not in text
    assert "scatter(" not in text
    assert "load(in0 + " in text
    assert text in emit_cpu(plan, Choice(), comment="")
