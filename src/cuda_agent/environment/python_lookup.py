"""What the allowlists say of a name that model_new.py uses, once it is known what the name stands for."""

from collections.abc import Iterator, Set
from typing import NamedTuple

from cuda_agent.environment.allowlist import load_allowlists

MODULES = ("torch.nn.init", "torch.nn", "torch", "collections.abc")
"""Modules that have modules within them, the longest first; a path's next name is looked up in them."""

WRITE_OUT = "a module may only be used as `module.name`, so that the file says what it calls"


class Refusal(NamedTuple):
    """One name that may not be used."""

    rule: str
    """Short name of the rule."""
    reason: str
    """Why, and what to do instead."""


class Lookup:
    """Looks names up in `allowlists/python.toml`.

    `is_building` says whether the code only runs while ModelNew is built, where more is allowed.
    """

    def __init__(self, declared: Set[str]) -> None:
        """`declared` are the attributes and methods that the file itself puts on objects."""
        self._declared = declared
        self._lists = load_allowlists("python")

    def check_module(self, module: str) -> Iterator[Refusal]:
        """Whether a module may be imported."""
        reason = self._lists["modules"].refuse(module)
        if reason is not None:
            yield Refusal("import", f"`import {module}`: {reason}")

    def check_imported(self, path: str, *, is_building: bool) -> Iterator[Refusal]:
        """Whether a name, given as a path with its module, may be imported from it."""
        modules = self._lists["modules"]
        if modules.refused.find(path):
            yield from self.check_module(path)
        elif path not in MODULES and modules.refuse(path) is not None:
            yield from self.check_path(path, is_call=False, is_building=is_building)

    def check_path(self, path: str, *, is_call: bool, is_building: bool) -> Iterator[Refusal]:
        """Whether a dotted path that starts at an import may be read or called."""
        module = next(
            (each for each in MODULES if path == each or path.startswith(f"{each}.")), path.split(".")[0]
        )
        rest = path.removeprefix(module).strip(".").split(".")
        if rest == [""]:
            yield Refusal("module", f"`{path}`: {WRITE_OUT}")
            return
        base, extras = f"{module}.{rest[0]}", rest[1:]
        anywhere, building = self._lists["anywhere"], self._lists["constructor"]
        allowed = anywhere.refuse(base) is None or (is_building and building.refuse(base) is None)
        if not allowed or anywhere.refused.find(path) not in (None, anywhere.refused.find(base)):
            yield Refusal("forbidden-name", f"`{path}`: {anywhere.refuse(path) or anywhere.default}")
            return
        for position, name in enumerate(extras):
            if is_call and position == len(extras) - 1:
                yield from self.check_method(name, is_building=is_building)
            else:
                yield from self.check_attribute(name, is_building=is_building)

    def check_attribute(self, name: str, *, is_building: bool) -> Iterator[Refusal]:
        """Whether an attribute of some value may be read."""
        if name not in self._declared or is_dunder(name):
            yield from self._find(
                name, "constructor_attribute" if is_building else "attribute", rule="attribute"
            )

    def check_method(self, name: str, *, is_building: bool) -> Iterator[Refusal]:
        """Whether a method of some value may be called."""
        is_wide = is_building and not is_dunder(name)
        yield from self._find(name, "constructor_method" if is_wide else "method", rule="method")

    def check_builtin(self, name: str) -> Iterator[Refusal]:
        """Whether one of Python's own names may be used."""
        yield from self._find(name, "builtin", rule="builtin")

    def _find(self, name: str, table: str, *, rule: str) -> Iterator[Refusal]:
        reason = self._lists[table].refuse(name)
        if reason is not None:
            yield Refusal(rule, f"`{name}`: {reason}")


def is_dunder(name: str) -> bool:
    """Whether a name belongs to Python itself."""
    return name.startswith("__")
