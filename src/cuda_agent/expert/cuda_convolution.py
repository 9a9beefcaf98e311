"""A product whose right operand is windows of images, as the convolution that cuDNN knows it by.

An operand's digits say which element stands where: an output's place steps by `stride * distance` of an axis
of space, a filter's tap by `dilation * distance`. Every split of these steps into factors describes the same
elements; cuDNN takes those in which no two elements share a place.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from cuda_agent.config import Record
from cuda_agent.expert.plan import Digit, Operand, Product

MOST_AXES = 3
"""Axes of space that the library takes."""
MOST_INT = (1 << 31) - 1
"""The library counts in int."""


class Axis(Record):
    """One axis of space."""

    size: int
    """Elements of the input along it."""
    distance: int
    """From one of them to the next."""
    taps: int
    """Of the filter."""
    places: int
    """Of the output."""
    stride: int = 1
    """Elements of the input from one place to the next."""
    dilation: int = 1
    """Elements of the input from one tap to the next."""

    @property
    def reach(self) -> int:
        """Elements of the input that are needed."""
        return (self.places - 1) * self.stride + (self.taps - 1) * self.dilation + 1


class Convolution(Record):
    """A convolution without padding of images that lie in memory in some regular way."""

    images: int
    """How many."""
    image_distance: int
    """From one to the next."""
    groups: int
    """Of channels."""
    channels: int
    """In a group."""
    channel_distance: int
    """From one to the next."""
    filters: int
    """In a group."""
    axes: tuple[Axis, ...]
    """Of space, the outermost first."""


def find_convolution(product: Product) -> Convolution | None:
    """The convolution that a product is, or None where it is none for the library."""
    left, right = product.left, product.right
    if not _is_packed(left, rows=product.rows, depth=product.depth):
        return None
    groups = _count_groups(left, filter_count=product.rows * product.depth, batch=product.batch)
    if groups is None or product.rows * product.depth > MOST_INT:
        return None
    for channel, taps in _split_channel(right.rows):
        for axes in _align(taps, right.cols):
            # From an offset on, what is needed may be all that there is.
            laid = _lay_axes(axes, channel=channel, is_whole=not right.offset)
            if laid and any(axis.taps > 1 for axis in laid):
                found = _lay_images(product, laid, channel=channel, groups=groups)
                if found is not None:
                    return found
    return None


def _is_packed(filters: Operand, *, rows: int, depth: int) -> bool:
    wanted = {"rows": (rows, depth), "cols": (depth, 1)}
    return all(
        getattr(filters, axis) == ((Digit(count=count, stride=stride),) if count > 1 else ())
        for axis, (count, stride) in wanted.items()
    )


def _count_groups(filters: Operand, *, filter_count: int, batch: int) -> int | None:
    """How many groups of channels the batch of filters tells of; None where they do not lie side by side."""
    moving = [digit for digit in filters.batch if digit.stride]
    if not moving:
        return 1
    last = filters.batch[-1]
    return (
        last.count if moving == [last] and last.stride == filter_count and batch % last.count == 0 else None
    )


def _split_channel(depth: Sequence[Digit]) -> Iterator[tuple[Digit | None, Sequence[Digit]]]:
    """The digit of the channels and those of the taps: with one channel there is none of the former."""
    if depth:
        yield depth[0], depth[1:]
    yield None, depth


def _align(
    taps: Sequence[Digit], places: Sequence[Digit]
) -> Iterator[list[tuple[Digit | None, Digit | None]]]:
    """Which tap belongs to which place: an axis may lack either, where it counts to one."""
    for count in range(max(len(taps), len(places), 1), min(len(taps) + len(places), MOST_AXES) + 1):
        for at_taps in combinations(range(count), len(taps)):
            for at_places in combinations(range(count), len(places)):
                if set(at_taps) | set(at_places) == set(range(count)):
                    by_tap = dict(zip(at_taps, taps, strict=True))
                    by_place = dict(zip(at_places, places, strict=True))
                    yield [(by_tap.get(axis), by_place.get(axis)) for axis in range(count)]


def _lay_axes(
    axes: Sequence[tuple[Digit | None, Digit | None]], *, channel: Digit | None, is_whole: bool
) -> tuple[Axis, ...] | None:
    """The axes of space from the innermost outwards, or None where elements would share a place."""
    laid: list[Axis] = []
    needed = 1
    for number, (tap, place) in enumerate(reversed(axes)):
        steps = [digit.stride for digit in (tap, place) if digit is not None]
        # The innermost elements lie side by side, whether each is needed or not.
        distance = math.gcd(*steps) if number else 1
        if min(steps) < 1 or distance < needed:
            return None
        axis = Axis(
            size=1,
            distance=distance,
            taps=tap.count if tap else 1,
            places=place.count if place else 1,
            stride=place.stride // distance if place else 1,
            dilation=tap.stride // distance if tap else 1,
        )
        laid.append(axis)
        needed = (axis.reach - 1) * distance + needed
    if channel is not None and channel.stride < needed:
        return None
    outer = [*(axis.distance for axis in laid[1:]), channel.stride if channel else 0]
    sized = [
        _size_axis(axis, within=within if is_whole else 0) for axis, within in zip(laid, outer, strict=True)
    ]
    return tuple(reversed(sized))


def _size_axis(axis: Axis, *, within: int) -> Axis:
    """The axis with all elements that lie on it, where the library would make as many places of them.

    A packed tensor is what the library is quick with.
    """
    whole, rest = divmod(within, axis.distance)
    is_same = not rest and 0 <= whole - axis.reach < axis.stride
    return axis.model_copy(update={"size": whole if is_same else axis.reach})


def _lay_images(
    product: Product, axes: tuple[Axis, ...], *, channel: Digit | None, groups: int
) -> Convolution | None:
    images, channels = product.batch // groups, channel.count if channel else 1
    distances = _split_batch(product.right.batch, images=images, groups=groups)
    if distances is None:
        return None
    reach = sum((axis.size - 1) * axis.distance for axis in axes) + 1
    channel_distance = channel.stride if channel else max(distances.group, reach)
    packed = groups * channels * channel_distance
    image_distance = distances.image if images > 1 else packed
    is_even = groups == 1 or distances.group == channels * channel_distance
    if not is_even or image_distance < packed or images * image_distance > MOST_INT:
        return None
    return Convolution(
        images=images,
        image_distance=image_distance,
        groups=groups,
        channels=channels,
        channel_distance=channel_distance,
        filters=product.rows,
        axes=axes,
    )


class _Distances(NamedTuple):
    """From one image, and from one group of its channels, to the next; 0 where there is one."""

    image: int
    group: int


def _split_batch(batch: Sequence[Digit], *, images: int, groups: int) -> _Distances | None:
    match batch:
        case [] if images * groups == 1:
            return _Distances(0, 0)
        case [one] if groups == 1:
            return _Distances(one.stride, 0)
        case [one]:
            return _Distances(one.stride * groups, one.stride)
        case [image, group] if group.count == groups:
            return _Distances(image.stride, group.stride)
    return None
