"""A chart as data: what is drawn, in words and numbers. `assets/charts.js` draws it, with its table."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from cuda_agent.config import Record


class ChartKind(StrEnum):
    """How a chart is drawn."""

    LINES = "lines"
    """One line a series, over x."""
    SCATTER = "scatter"
    """One dot a point."""
    BARS = "bars"
    """Horizontal bars, one group a category, one bar a series."""


class Series(Record):
    """One line, one colour of dots, or one bar of each category; columns of equal length."""

    name: str
    """What the legend calls it."""
    xs: tuple[float, ...]
    """Positions; of bars the index of the category."""
    ys: tuple[float | None, ...]
    """Values; None where there is none."""
    lows: tuple[float | None, ...] = ()
    """Lower ends of the intervals, where there are any."""
    highs: tuple[float | None, ...] = ()
    """Upper ends."""
    notes: tuple[str, ...] = ()
    """What a point is, in a few words."""


class Mark(Record):
    """A line of reference."""

    axis: str
    """`x` or `y`; `xy` is the diagonal."""
    value: float
    """Where it is."""
    label: str
    """What it means."""


class Chart(Record):
    """One chart."""

    kind: ChartKind
    """How it is drawn."""
    title: str
    """What it shows."""
    caption: str
    """What is seen, n, and what the interval is."""
    series: tuple[Series, ...]
    """What is drawn."""
    x_label: str = ""
    """The horizontal axis, with its unit."""
    y_label: str = ""
    """The vertical axis, with its unit."""
    x_log: bool = False
    """Whether x is logarithmic."""
    y_log: bool = False
    """Whether y is logarithmic."""
    categories: tuple[str, ...] = ()
    """Of bars: their names, top to bottom."""
    marks: tuple[Mark, ...] = ()
    """Lines of reference."""
    unit: str = ""
    """What follows a value, such as ` %` or `x`."""


def build_bars(
    title: str, values: Mapping[str, Mapping[str, float]], *, caption: str, unit: str = ""
) -> Chart:
    """Bars: by series, then by category; the categories come in the order in which they are met."""
    categories = list(dict.fromkeys(itertools.chain.from_iterable(values.values())))
    series = [
        Series(
            name=name,
            xs=tuple(map(float, range(len(categories)))),
            ys=tuple(by_category.get(category) for category in categories),
        )
        for name, by_category in values.items()
    ]
    return Chart(
        kind=ChartKind.BARS,
        title=title,
        caption=caption,
        series=tuple(series),
        categories=tuple(categories),
        unit=unit,
    )


def build_histogram(title: str, values: Sequence[float], *, edges: Sequence[float], caption: str) -> Chart:
    """How many values lie in each bin; the last holds its upper edge too, and what lies outside is named."""
    pairs = list(itertools.pairwise(edges))
    counts = {
        f"{low:g} to {high:g}": float(
            sum(low <= value < high or (high == edges[-1] and value == high) for value in values)
        )
        for low, high in pairs
    }
    below = sum(value < edges[0] for value in values)
    above = sum(value > edges[-1] for value in values)
    named = {f"below {edges[0]:g}": float(below), **counts, f"above {edges[-1]:g}": float(above)}
    shown = {name: count for name, count in named.items() if count or name in counts}
    return build_bars(title, {"count": shown}, caption=caption)


def count_bars(title: str, items: Iterable[str], *, caption: str, most: int = 20) -> Chart:
    """How often each item occurs, the commonest first; the rest beyond `most` is told in the caption."""
    counts = Counter(items).most_common()
    shown = {name: float(count) for name, count in counts[:most]}
    if rest := sum(count for _, count in counts[most:]):
        caption += f" {len(counts) - most} further ones occur {rest} times in all and are not drawn."
    return build_bars(title, {"count": shown}, caption=caption)
