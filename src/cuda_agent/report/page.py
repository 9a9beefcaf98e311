"""A page: its data, which is its JSON twin, and the template that shows them."""

from typing import Any

from cuda_agent.config import Record
from cuda_agent.report.charts import Chart


class Page(Record):
    """One page of the site."""

    name: str
    """The file's name without its ending."""
    template: str
    """The template's name without its ending."""
    title: str
    """The page's heading."""
    lead: str
    """One sentence under it."""
    data: dict[str, Any]
    """What the template shows."""
    charts: dict[str, Chart] = {}
    """Charts by the name that the template calls them."""
    tables: dict[str, dict[str, Any]] = {}
    """Large tables that can be sorted and filtered: `columns` and `rows`."""
    missing: tuple[str, ...] = ()
    """A sentence for each part that there is nothing for."""
    is_empty: bool = False
    """Whether nothing was found that it could show."""
    in_menu: bool = True
    """Whether the menu has it."""


def format_ms(value: float | None) -> str:
    """Milliseconds to three digits."""
    return "-" if value is None else f"{value:.3g} ms"


def format_times(value: float | None) -> str:
    """A ratio, such as `2.11x`."""
    return "-" if value is None else f"{value:.2f}x"
