"""The loop nest that a kernel runs over, while the kernel is being made."""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

from cuda_agent.expert.index import Affine, build_counter, find_strides


@dataclass(frozen=True)
class Dim:
    """One counter of the nest, which may cover only a part of the dimension it stands for."""

    extent: int
    """Size of the whole dimension."""
    start: int = 0
    """The first element covered."""
    size: int = -1
    """How many are covered; -1 means all."""

    @property
    def count(self) -> int:
        """How far the counter counts."""
        return self.extent if self.size < 0 else self.size


@dataclass(frozen=True)
class Domain:
    """Rows and columns; the innermost column dimension may be cut into pieces computed differently."""

    outer: tuple[Dim, ...]
    """One for each row counter."""
    cols: tuple[int, ...]
    """Extents of the column counters; at least one."""
    pieces: tuple[tuple[int, int], ...]
    """Start and length of each piece of the innermost column dimension."""
    order: tuple[int, ...] = ()
    """How a full root's dimensions are arranged into rows, then columns; empty means as they are."""
    is_flat: bool = False
    """Whether rows mean nothing: no reduction belongs to one."""

    @property
    def loops(self) -> tuple[int, ...]:
        """The distinct lengths of pieces: each is one loop."""
        return tuple(dict.fromkeys(length for _, length in self.pieces))

    @property
    def rows(self) -> int:
        """How many rows."""
        return prod(dim.count for dim in self.outer)

    @property
    def row_extent(self) -> int:
        """How many elements a whole row has."""
        return prod(self.cols)

    def get_sizes(self, piece: int) -> dict[int, int]:
        """How far each counter counts while `piece` is computed."""
        counts = [dim.count for dim in self.outer] + list(self.cols[:-1]) + [self.pieces[piece][1]]
        return dict(enumerate(counts))

    def locate_row(self) -> Affine:
        """Position of a row in row-major order over the whole outer dimensions."""
        total = Affine()
        strides = find_strides(tuple(dim.extent for dim in self.outer))
        for counter, (dim, stride) in enumerate(zip(self.outer, strides, strict=True)):
            total = total + (build_counter(counter, dim.count) + Affine(dim.start)).scale(stride)
        return total

    def locate_column(self, piece: int) -> Affine:
        """Position of a column in row-major order over the column dimensions."""
        total = Affine()
        start, length = self.pieces[piece]
        for place, (extent, stride) in enumerate(zip(self.cols, find_strides(self.cols), strict=True)):
            last = place == len(self.cols) - 1
            counter = build_counter(len(self.outer) + place, length if last else extent)
            total = total + (counter + Affine(start if last else 0)).scale(stride)
        return total

    def is_column(self, counter: int) -> bool:
        """Whether a counter runs within a row."""
        return counter >= len(self.outer)

    def refine(self, counter: int, size: int) -> "Domain | None":
        """The domain with one counter split, the inner part counting to `size`; None if it cannot be."""
        if not self.is_column(counter):
            dim = self.outer[counter]
            if dim.count != dim.extent:
                return None
            halves = (Dim(dim.extent // size), Dim(size))
            return replace(self, outer=self.outer[:counter] + halves + self.outer[counter + 1 :])
        place = counter - len(self.outer)
        if place == len(self.cols) - 1 and len(self.pieces) > 1:
            return None
        cols = (*self.cols[:place], self.cols[place] // size, size, *self.cols[place + 1 :])
        return replace(self, cols=cols, pieces=((0, cols[-1]),))

    def cut_columns(self, at: int) -> "Domain":
        """The domain whose innermost column dimension has another piece beginning at `at`."""
        bounds = sorted({start for start, _ in self.pieces} | {at, self.cols[-1]})
        pieces = tuple((low, high - low) for low, high in pairwise(bounds))
        return replace(self, pieces=pieces)

    def cut_rows(self, counter: int, at: int) -> tuple["Domain", "Domain"]:
        """Two domains that share the rows, divided where `counter`'s dimension reaches `at`."""
        dim = self.outer[counter]
        low = replace(dim, size=at - dim.start)
        high = Dim(dim.extent, start=at, size=dim.start + dim.count - at)
        before, after = self.outer[:counter], self.outer[counter + 1 :]
        return replace(self, outer=(*before, low, *after)), replace(self, outer=(*before, high, *after))
