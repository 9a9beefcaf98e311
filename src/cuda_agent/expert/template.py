"""Templates of everything that the expert writes or says."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent / "templates"
"""The templates, and the headers that emitted kernels include."""


def load_template(name: str, **values: object) -> str:
    """A template of this room, filled in."""
    pages = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return pages.get_template(name).render(**values)
