"""Nested values survive a round trip, and what cannot cross says where it is."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.judge.tree import (
    DTYPES,
    Node,
    NodeKind,
    UnsupportedValueError,
    build_value,
    compute_offsets,
    describe_value,
    map_tensors,
)

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS | st.integers(0, 5).map(lambda n: torch.arange(float(n))),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def equal(a: object, b: object) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and type(a) is type(b):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


@given(VALUES)
def test_round_trip(value: object) -> None:
    node, tensors = describe_value(value)
    again = Node.model_validate_json(node.model_dump_json())
    assert again == node
    assert equal(build_value(again, tensors), value)


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_every_dtype_has_its_size(name: str) -> None:
    node, _ = describe_value(torch.zeros(3, 2, dtype=DTYPES[name]))
    assert (node.dtype, node.nbytes) == (name, 6 * DTYPES[name].itemsize)


class Sneaky(torch.Tensor):
    """Looks like a tensor."""


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ([1, {"a": object()}], r"value\[1\]\['a'\] is a object"),
        (torch.zeros(2).as_subclass(Sneaky), "value is a Sneaky"),
        ({1: 2}, "keys that are not strings"),
        ((torch.zeros(2, device="meta"),), r"value\[0\] is not a dense tensor"),
        ([torch.zeros(2, 2).to_sparse()], r"value\[0\] is not a dense tensor"),
    ],
)
def test_what_cannot_cross_says_where_it_is(value: object, where: str) -> None:
    with pytest.raises(UnsupportedValueError, match=where):
        describe_value(value)


def test_deep_nesting_is_refused() -> None:
    value: list[object] = []
    for _ in range(40):
        value = [value]
    with pytest.raises(UnsupportedValueError, match="deeper"):
        describe_value(value)


def test_offsets_are_aligned_and_do_not_overlap() -> None:
    leaves = [Node(kind=NodeKind.TENSOR, shape=(n,), dtype="float32") for n in (1, 64, 65, 0, 3)]
    offsets, total = compute_offsets(leaves)
    assert offsets == [0, 256, 512, 1024, 1024]
    assert total == 1280


def test_map_changes_every_tensor_and_leaves_no_cycle_behind() -> None:
    doubled = map_tensors([torch.ones(2), (3, torch.ones(1))], lambda tensor: tensor * 2)
    assert equal(doubled, [torch.full((2,), 2.0), (3, torch.full((1,), 2.0))])
