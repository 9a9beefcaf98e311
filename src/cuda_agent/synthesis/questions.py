"""What the probe asks the process that runs candidates, and what that answers."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from cuda_agent.config import Record
from cuda_agent.judge.gate import GateMeasurement


class Warm(Record):
    """Open the device, before anything is examined."""

    kind: Literal["warm"] = "warm"
    """Which question this is."""
    compiles: bool
    """Whether to compile something, too: the first time takes ten times as long as the others."""


class Examine(Record):
    """Run a program in eager mode, and look at what it does."""

    kind: Literal["examine"] = "examine"
    """Which question this is."""
    code: str
    """The program."""
    seed: int
    """What weights and inputs are drawn from."""


class Measure(Record):
    """Time the examined program."""

    kind: Literal["measure"] = "measure"
    """Which question this is."""
    is_compiled: bool
    """Whether torch.compile's form, instead of eager."""


class Compile(Record):
    """Compile the examined program, on the host: nothing runs on the device."""

    kind: Literal["compile"] = "compile"
    """Which question this is."""


class Compare(Record):
    """Run the compiled program and compare what it gives."""

    kind: Literal["compare"] = "compare"
    """Which question this is."""


class Done(Record):
    """It is done."""

    kind: Literal["done"] = "done"
    """Which answer this is."""


class Examined(Record):
    """What a program does."""

    kind: Literal["examined"] = "examined"
    """Which answer this is."""
    device: str
    """The device's name."""
    memory_bytes: int
    """Inputs, weights and outputs together; on cuda the most that was allocated in one forward."""
    draws_random: bool
    """Whether forward moved a random generator."""
    is_deterministic: bool
    """Whether the same inputs gave the same bits a second time, in a second instance too."""
    gate: GateMeasurement
    """What its outputs look like."""
    redundant: str
    """An operator that gave back what it was given; empty when none did."""


class Timed(Record):
    """How long it takes."""

    kind: Literal["timed"] = "timed"
    """Which answer this is."""
    median_ms: float
    """Median of several calls."""


class Compared(Record):
    """How torch.compile's form compares."""

    kind: Literal["compared"] = "compared"
    """Which answer this is."""
    differing_share: float
    """Share of output elements that differ from eager's."""


class Failed(Record):
    """The program failed."""

    kind: Literal["failed"] = "failed"
    """Which answer this is."""
    reason: str
    """The error's type and first line."""
    is_device_lost: bool = False
    """Whether the process can no longer use its device: a CUDA error stays."""


Question = Warm | Examine | Measure | Compile | Compare
Answer = Done | Examined | Timed | Compared | Failed
QUESTION: TypeAdapter[Question] = TypeAdapter(Annotated[Question, Field(discriminator="kind")])
"""Reads a question."""
ANSWER: TypeAdapter[Answer] = TypeAdapter(Annotated[Answer, Field(discriminator="kind")])
"""Reads an answer."""
