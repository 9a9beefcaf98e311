import pytest

from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Kernel, Level, Value
from cuda_agent.expert.text import (
    name_counters,
    write_literal,
    write_name,
    write_neutral,
    write_position,
)

KERNEL = Kernel(
    name="k",
    outer=(3,),
    cols=(2,),
    loops=(5,),
    values=(
        Value(op="literal", lane=Lane.F32, level=Level.ONCE, literal=-0.5),
        Value(op="pick", args=(0,), lane=Lane.I64, level=Level.FULL, literal=4),
    ),
    stores=(),
)


@pytest.mark.parametrize(
    ("value", "lane", "text"),
    [
        (2, Lane.F32, "2.0f"),
        (-1e-05, Lane.F32, "(-1e-05f)"),
        (0.1, Lane.F64, "0.1"),
        (7.0, Lane.I64, "int64_t(7)"),
        (1, Lane.BOOL, "true"),
        (float("-inf"), Lane.F32, "(-std::numeric_limits<float>::infinity())"),
        (float("nan"), Lane.F64, "std::numeric_limits<double>::quiet_NaN()"),
    ],
)
def test_literals(value: float, lane: Lane, text: str) -> None:
    assert write_literal(value, lane) == text


def test_neutral_elements() -> None:
    assert write_neutral("reduce_sum", Lane.F32) == "0.0f"
    assert write_neutral("reduce_prod", Lane.I64) == "int64_t(1)"
    assert write_neutral("reduce_amax", Lane.I64) == "std::numeric_limits<int64_t>::lowest()"
    assert write_neutral("reduce_amin", Lane.F32) == "std::numeric_limits<float>::infinity()"


def test_positions() -> None:
    access = Access(buffer="in0", offset=7, terms=((0, 10), (1, 5), (2, 1)), picks=((1, 3),))
    assert name_counters(KERNEL) == ["r0", "c0", "j"]
    assert write_position(KERNEL, access) == "r0 * 10 + c0 * 5 + j + v1 * 3 + 7"
    assert write_position(KERNEL, access, inner=None) == "r0 * 10 + c0 * 5 + v1 * 3 + 7"
    assert write_position(KERNEL, Access(buffer="in0", offset=0)) == "0"


def test_literals_stand_where_they_are_used() -> None:
    assert (write_name(KERNEL, 0), write_name(KERNEL, 1)) == ("(-0.5f)", "v1")
