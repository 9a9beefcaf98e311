import pytest

from cuda_agent.expert.index import Affine, RefineError
from cuda_agent.expert.lowering import CutError, Lowering, PieceError, Place
from cuda_agent.expert.plan import Level
from tests.expert.lowered import PLACE, build, node, ref


def find_terms(
    lowering: Lowering, name: str, *, place: Place = PLACE
) -> tuple[int, tuple[tuple[int, int], ...]]:
    access = lowering.values[lowering.lower(name, place)].access
    assert access is not None
    return access.offset, access.terms


def test_views_of_memory_are_addresses() -> None:
    lowering = build(
        node("s", "slice", 4, 2, input=ref("x"), dim=1, start=1, step=3),
        node("p", "permute", 6, 4, input=ref("x"), dims=[1, 0]),
        node("e", "expand", 4, 6, input=ref("row")),
        node("r", "reshape", 24, input=ref("x")),
    )
    assert find_terms(lowering, "s") == (1, ((0, 6), (1, 3)))
    assert find_terms(lowering, "p", place=Place((PLACE.index[1], PLACE.index[0]), 0)) == (
        0,
        ((0, 6), (1, 1)),
    )
    assert find_terms(lowering, "e") == (0, ((0, 1),))
    assert find_terms(lowering, "r", place=Place((Affine(2, ((1, 4),)),), 0)) == (2, ((1, 4),))


def test_a_concatenation_asks_for_its_loop_to_be_divided() -> None:
    lowering = build(node("c", "cat", 4, 6, inputs=[ref("l"), ref("r")], dim=1),
                     node("l", "slice", 4, 2, input=ref("x"), dim=1, start=0, step=1),
                     node("r", "slice", 4, 4, input=ref("x"), dim=1, start=2, step=1))  # fmt: skip
    with pytest.raises(PieceError) as caught:
        lowering.lower("c", PLACE)
    assert (caught.value.counter, caught.value.at) == (1, 2)
    lowering.domain = lowering.domain.cut_columns(2)
    right = Place((PLACE.index[0], Affine(2, ((1, 1),))), 1)
    assert find_terms(lowering, "c", place=right) == (2, ((0, 6), (1, 1)))


def test_parts_that_meet_in_a_merged_dimension_are_cut() -> None:
    lowering = build(node("c", "cat", 24, inputs=[ref("l"), ref("l")], dim=0),
                     node("l", "full", 12, value=1.0))  # fmt: skip
    with pytest.raises(CutError):
        lowering.lower("c", Place((Affine(0, ((0, 6), (1, 1))),), 0))


def test_a_reshape_of_something_computed_may_ask_for_a_counter_to_be_split() -> None:
    lowering = build(node("n", "neg", 4, 2, 3, _0=ref("v")),
                     node("v", "reshape", 4, 2, 3, input=ref("x")),
                     node("r", "reshape", 4, 6, input=ref("n")))  # fmt: skip
    with pytest.raises(RefineError) as caught:
        lowering.lower("r", PLACE)
    assert (caught.value.counter, caught.value.size) == (1, 3)


def test_a_gather_reads_where_its_index_points() -> None:
    lowering = build(node("g", "gather", 4, 1, input=ref("x"), dim=1, index=ref("i")))
    value = lowering.values[lowering.lower("g", Place((PLACE.index[0], Affine()), 0))]
    assert (value.op, value.level) == ("load", Level.ROW)
    assert value.access is not None
    ((pick, coefficient),) = value.access.picks
    assert (lowering.values[pick].op, lowering.values[pick].literal, coefficient) == ("pick", 6, 1)


def test_an_index_that_counts_is_an_address() -> None:
    lowering = build(node("k", "iota", 4, dtype="int64", start=0, step=1),
                     node("a", "index", 4, 6, input=ref("x"), indices=[ref("k")]))  # fmt: skip
    assert find_terms(lowering, "a") == (0, ((0, 6), (1, 1)))
