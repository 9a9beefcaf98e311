"""Records and configurations: frozen, typed, serialisable, and identified by a digest."""

import hashlib
import os
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen fact: what happened. Unknown fields are an error; NaN and infinity survive JSON."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, ser_json_inf_nan="constants"
    )


class Config(Record):
    """A frozen wish: what should happen. One class serves file, flags, help and the saved run."""

    def compute_digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of the canonical JSON form."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def replace(self, **changes: object) -> Self:
        """A validated copy with some fields changed."""
        return type(self).model_validate({**self.model_dump(), **changes})


def find_cache(name: str) -> Path:
    """A folder of this user's cache: `$XDG_CACHE_HOME/cuda-agent/<name>`, by default below ~/.cache."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "cuda-agent" / name
