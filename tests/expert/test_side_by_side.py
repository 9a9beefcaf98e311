from collections.abc import Mapping

from cuda_agent.expert.side_by_side import find_accesses, suits_lanes
from tests.expert.built import Planned


def test_the_layout_decides(planned: Mapping[str, Planned]) -> None:
    assert all(suits_lanes(kernel) for kernel in planned["softmax_across"].plan.kernels)
    for name in ("softmax", "gelu_bias", "layer_norm", "transpose", "even_total"):
        assert not any(suits_lanes(kernel) for kernel in planned[name].plan.kernels), name


def test_accesses_of_elements_are_told_from_those_of_rows(planned: Mapping[str, Planned]) -> None:
    kernel = planned["softmax_across"].plan.kernels[0]
    found = [(access.buffer, is_store) for access, is_store in find_accesses(kernel)]
    assert found[0] == ("in0", False)
    assert all(buffer.startswith("out") is is_store for buffer, is_store in found)
    assert len(found) > 1
