"""What is allowed, as data: everything that no entry allows is refused, with a reason.

The entries live in `allowlists/*.toml`. A table has a `default` (the reason for whatever no entry
names), `[[TABLE.allow]]` and `[[TABLE.refuse]]` entries, each with `why` and `names`. A name may end
in `*`. A refusing entry wins over an allowing one, and serves to say what to do instead.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "allowlists"


@dataclass(frozen=True)
class NameSet:
    """Names, some of them prefixes, each with the reason it is listed for."""

    exact: dict[str, str]
    """Whole names and their reasons."""
    prefixes: tuple[tuple[str, str], ...]
    """Prefixes and their reasons."""

    def find(self, name: str) -> str | None:
        """The reason that `name` is listed for, or None."""
        if name in self.exact:
            return self.exact[name]
        return next((why for prefix, why in self.prefixes if name.startswith(prefix)), None)


@dataclass(frozen=True)
class Allowlist:
    """Allowed names; all others are refused."""

    default: str
    """The reason given for a name that no entry lists."""
    allowed: NameSet
    """Names that pass."""
    refused: NameSet
    """Names with a reason of their own for being refused."""

    def refuse(self, name: str) -> str | None:
        """Why `name` is refused, or None when it is allowed."""
        reason = self.refused.find(name)
        if reason is not None:
            return reason
        return self.default if self.allowed.find(name) is None else None


@cache
def load_allowlists(file: str) -> dict[str, Allowlist]:
    """Every table of `allowlists/<file>.toml`, by name."""
    with open(FOLDER / f"{file}.toml", "rb") as stream:
        tables = tomllib.load(stream)
    return {
        name: Allowlist(
            table["default"], _read_names(table.get("allow", [])), _read_names(table.get("refuse", []))
        )
        for name, table in tables.items()
    }


def _read_names(entries: list[dict[str, Any]]) -> NameSet:
    exact: dict[str, str] = {}
    prefixes: list[tuple[str, str]] = []
    for entry in entries:
        for name in entry["names"]:
            if name.endswith("*"):
                prefixes.append((name[:-1], entry["why"]))
            else:
                exact[name] = entry["why"]
    return NameSet(exact, tuple(prefixes))
