"""Every reply of a child to the judge: exactly one for each request.

Nothing a runner says is believed: its replies steer the judge's next question and explain a failure,
while the verdict comes from the bytes in its outbox and from the judge's own clock.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from cuda_agent.config import Record
from cuda_agent.judge.result import TaskResult
from cuda_agent.judge.tree import Node


class Done(Record):
    """It is done, and there is nothing to say."""

    kind: Literal["done"] = "done"
    """Which reply."""


class Failed(Record):
    """It could not be done."""

    kind: Literal["failed"] = "failed"
    """Which reply."""
    reason: str
    """One sentence."""
    detail: str = ""
    """The end of the traceback."""


class Prepared(Record):
    """The process is ready."""

    kind: Literal["prepared"] = "prepared"
    """Which reply."""
    device: str
    """The device's name."""
    versions: dict[str, str]
    """Versions of what matters."""


class Described(Record):
    """What a nested value looks like."""

    kind: Literal["described"] = "described"
    """Which reply."""
    node: Node
    """Its description."""


class TaskOpened(Record):
    """The task's program ran."""

    kind: Literal["task_opened"] = "task_opened"
    """Which reply."""
    needed_bytes: int
    """Estimate of inputs, weights and outputs together; 0 when it could not be estimated."""
    arguments: Node
    """The constructor's arguments; an empty list when the task does not fit."""
    copy_gb_per_s: float
    """Measured copy bandwidth, bytes read plus bytes written."""


class TaskChecked(Record):
    """The task has been before the gate."""

    kind: Literal["task_checked"] = "task_checked"
    """Which reply."""
    result: TaskResult
    """What was found."""


class Expected(Record):
    """The outputs for the current inputs: the exact ones, then eager's, ready to be published."""

    kind: Literal["expected"] = "expected"
    """Which reply."""
    exact: Node
    """Outputs in float64 (float32 where float64 does not work)."""
    eager: Node
    """Outputs as eager gives them: the shapes and dtypes that a submission must match."""
    free: Node
    """Booleans, like each output: whole numbers that are a choice among equals; nothing, where none is."""
    inputs_changed: bool
    """Whether the reference writes to its own inputs."""
    eager_ms: float
    """Roughly how long one call takes."""


class Called(Record):
    """The calls are done: what the process says of their times."""

    kind: Literal["called"] = "called"
    """Which reply."""
    calls_ms: tuple[float, ...] = ()
    """Each call's time, when timed."""
    block_ms: float = 0.0
    """The time of all calls together and of what lies between them, when timed."""
    inputs_changed: bool = False
    """Whether an input was written to, when checked."""


Reply = Annotated[
    Done | Failed | Prepared | Described | TaskOpened | TaskChecked | Expected | Called,
    Field(discriminator="kind"),
]

REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)
"""Parses any reply."""
