"""A call's arguments, as a model wrote them."""

import json
from typing import NoReturn

from pydantic import JsonValue

DEEPEST = 32
"""How deeply arguments may be nested: more than any tool takes, less than a record can be read back with."""


def parse_object(text: str) -> dict[str, JsonValue] | None:
    """The JSON object that `text` is, or None when it is none that a record can hold.

    A line break within a string, which JSON forbids and models write, is let pass. NaN, half of a
    surrogate pair and very deep nesting are not.
    """
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _is_shallow(value, DEEPEST) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _is_shallow(value: JsonValue, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)
