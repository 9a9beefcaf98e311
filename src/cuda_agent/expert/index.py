"""Where an element is: whole-number affine expressions over the counters of a loop nest."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

Sizes = Mapping[int, int]
"""How many values each counter takes, by its number; a counter starts at 0."""


class RefineError(Exception):
    """A counter must be split in two before an index can be written: `outer * size + inner`."""

    def __init__(self, counter: int, size: int) -> None:
        """Split `counter` so that the inner part counts to `size`."""
        super().__init__(f"split counter {counter} by {size}")
        self.counter = counter
        self.size = size


class IrregularError(Exception):
    """An index is not affine, whichever way the counters are split."""


@dataclass(frozen=True)
class Affine:
    """`const + sum(coefficient * counter)`; terms are sorted and none is zero."""

    const: int = 0
    """What is added."""
    terms: tuple[tuple[int, int], ...] = ()
    """Counter and coefficient."""

    def __add__(self, other: "Affine") -> "Affine":
        """Term by term."""
        terms = dict(self.terms)
        for counter, coefficient in other.terms:
            terms[counter] = terms.get(counter, 0) + coefficient
        kept = tuple(sorted((counter, c) for counter, c in terms.items() if c))
        return Affine(self.const + other.const, kept)

    def scale(self, factor: int) -> "Affine":
        """Every part times `factor`."""
        if factor == 0:
            return Affine()
        return Affine(self.const * factor, tuple((counter, c * factor) for counter, c in self.terms))

    def get_coefficient(self, counter: int) -> int:
        """The coefficient of one counter."""
        return dict(self.terms).get(counter, 0)

    def find_bounds(self, sizes: Sizes) -> tuple[int, int]:
        """Least and greatest value."""
        low = high = self.const
        for counter, coefficient in self.terms:
            reach = coefficient * (sizes[counter] - 1)
            low, high = low + min(0, reach), high + max(0, reach)
        return low, high


def build_counter(counter: int, size: int) -> Affine:
    """One counter alone; nothing when it takes only the value 0."""
    return Affine(0, ((counter, 1),)) if size > 1 else Affine()


def split_affine(value: Affine, size: int, *, sizes: Sizes) -> tuple[Affine, Affine]:
    """Quotient and remainder of a division by `size`.

    Raises:
        RefineError: they are affine once a counter is split.
        IrregularError: they are not affine.
    """
    if size == 1:
        return value, Affine()
    whole = [(counter, c // size) for counter, c in value.terms if c % size == 0]
    rest = [(counter, c) for counter, c in value.terms if c % size]
    quotient = Affine(value.const // size, tuple(whole))
    remainder = Affine(value.const % size, tuple(rest))
    low, high = remainder.find_bounds(sizes)
    if low >= 0 and high < size:
        return quotient, remainder
    for counter, coefficient in sorted(rest, key=lambda term: -abs(term[1])):
        inner = size // coefficient if coefficient > 0 and size % coefficient == 0 else 0
        if inner > 1 and sizes[counter] > inner and sizes[counter] % inner == 0:
            raise RefineError(counter, inner)
    raise IrregularError(f"{value} / {size}")


def find_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def join_index(index: tuple[Affine, ...], shape: tuple[int, ...]) -> Affine:
    """Position in row-major order."""
    total = Affine()
    for part, stride in zip(index, find_strides(shape), strict=True):
        total = total + part.scale(stride)
    return total


def split_index(position: Affine, shape: tuple[int, ...], *, sizes: Sizes) -> tuple[Affine, ...]:
    """The index of a position in row-major order; the inverse of `join_index`."""
    parts: list[Affine] = []
    for dim in range(len(shape) - 1, 0, -1):
        position, part = split_affine(position, shape[dim], sizes=sizes)
        parts.append(part)
    if shape:
        parts.append(position)
    return tuple(reversed(parts))
