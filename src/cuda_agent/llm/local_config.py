"""How a checkpoint is run in this process."""

from enum import StrEnum

from pydantic import PositiveInt

from cuda_agent.config import Config


class Precision(StrEnum):
    """Which numbers a checkpoint computes with."""

    AUTO = "auto"
    """Those that it was saved with."""
    FLOAT32 = "float32"
    """Single precision: the surest on cpu."""
    BFLOAT16 = "bfloat16"
    """Half the memory, with the range of single precision."""
    FLOAT16 = "float16"
    """Half the memory, with a small range."""


class LocalConfig(Config):
    """How a checkpoint is run; for `--policy local:FOLDER`. How it samples is `--sampling`'s."""

    device: str = "auto"
    """Where it computes: `cpu`, `cuda`, `cuda:1`; `auto` takes a GPU if there is one."""
    dtype: Precision = Precision.AUTO
    """Which numbers it computes with."""
    batch_size: PositiveInt = 16
    """How many conversations are continued at once, when so many wait."""
