"""Rows that others have published, with where they come from; held as data in `published.toml`."""

import tomllib
from importlib import resources

from cuda_agent.config import Record


class PublishedRow(Record):
    """One policy's numbers at one level, as claimed."""

    policy: str
    """Who made the solutions."""
    level: int
    """The level; 0 for all of them."""
    tasks: int
    """How many tasks there are."""
    passed_percent: float
    """Per cent of the tasks that are correct."""
    faster_eager_percent: float
    """Per cent that are correct and more than 5 % faster than eager, at the point estimate."""
    faster_compile_percent: float
    """The same against torch.compile."""
    speedup_eager: float
    """Geometric mean over correct solutions."""
    speedup_compile: float
    """The same over torch.compile."""


class Published(Record):
    """One publication's rows."""

    source: str
    """What it is."""
    date: str
    """When it was published."""
    note: str
    """What a reader must know."""
    rows: tuple[PublishedRow, ...]
    """Its rows."""


def load_published() -> Published:
    """The paper's table."""
    text = resources.files("cuda_agent.bench").joinpath("published.toml").read_text(encoding="utf-8")
    paper = tomllib.loads(text)["paper"]
    names = tuple(PublishedRow.model_fields)
    rows = tuple(PublishedRow.model_validate(dict(zip(names, row, strict=True))) for row in paper["rows"])
    return Published(source=paper["source"], date=paper["date"], note=paper["note"], rows=rows)
