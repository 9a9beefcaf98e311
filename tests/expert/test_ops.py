from cuda_agent.expert import ops
from cuda_agent.expert.ops import Lane


def test_every_dtype_with_a_lane_has_a_size() -> None:
    assert set(ops.LANES) == set(ops.DTYPE_BYTES)


def test_the_common_lane_holds_both() -> None:
    assert ops.find_common_lane([Lane.BOOL, Lane.F32, Lane.I64]) is Lane.F32
    assert ops.find_common_lane([Lane.F32, Lane.F64]) is Lane.F64


def test_truths_and_comparisons_are_pointwise() -> None:
    assert set(ops.TRUTHS) <= set(ops.POINTWISE)
    assert set(ops.COMPARISONS) <= set(ops.TRUTHS)
    assert not set(ops.REDUCTIONS) & set(ops.POINTWISE)
