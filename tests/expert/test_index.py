import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.expert.index import (
    Affine,
    IrregularError,
    RefineError,
    build_counter,
    find_strides,
    join_index,
    split_affine,
    split_index,
)

SIZES = {0: 6, 1: 8}


def evaluate(value: Affine, counters: dict[int, int]) -> int:
    return value.const + sum(c * counters[counter] for counter, c in value.terms)


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    data=st.data(),
)
def test_split_is_the_inverse_of_join(shape: list[int], data: st.DataObject) -> None:
    sizes = dict(enumerate(shape))
    index = tuple(build_counter(dim, size) for dim, size in sizes.items())
    position = join_index(index, tuple(shape))
    assert split_index(position, tuple(shape), sizes=sizes) == index
    counters = {dim: data.draw(st.integers(0, size - 1)) for dim, size in sizes.items()}
    expected = sum(counters[dim] * stride for dim, stride in enumerate(find_strides(tuple(shape))))
    assert evaluate(position, counters) == expected


@given(
    const=st.integers(0, 50),
    coefficients=st.tuples(st.integers(0, 12), st.integers(0, 12)),
    size=st.integers(1, 12),
)
def test_division_is_division_wherever_it_is_allowed(
    const: int, coefficients: tuple[int, int], size: int
) -> None:
    value = Affine(const, tuple((k, c) for k, c in enumerate(coefficients) if c))
    try:
        quotient, remainder = split_affine(value, size, sizes=SIZES)
    except (RefineError, IrregularError):
        return
    for i in range(SIZES[0]):
        for j in range(SIZES[1]):
            whole = evaluate(value, {0: i, 1: j})
            assert divmod(whole, size) == (
                evaluate(quotient, {0: i, 1: j}),
                evaluate(remainder, {0: i, 1: j}),
            )


def test_a_counter_that_runs_over_a_boundary_is_to_be_split() -> None:
    with pytest.raises(RefineError) as caught:
        split_affine(build_counter(1, 8), 4, sizes=SIZES)
    assert (caught.value.counter, caught.value.size) == (1, 4)


def test_what_no_splitting_helps_is_irregular() -> None:
    with pytest.raises(IrregularError):
        split_affine(build_counter(1, 8), 3, sizes=SIZES)


def test_counters_of_one_value_vanish_and_terms_cancel() -> None:
    assert build_counter(0, 1) == Affine()
    assert build_counter(0, 6) + build_counter(0, 6).scale(-1) == Affine()
    assert Affine(3, ((0, 2), (1, -1))).find_bounds(SIZES) == (-4, 13)
