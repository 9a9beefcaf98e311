"""What a pool is asked to do, and how that ended."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from cuda_agent.config import Record


class Tier(StrEnum):
    """What a step of a item needs."""

    HOST = "host"
    """Processor cores only; such workers see no GPU."""
    DEVICE = "device"
    """A device of its own, on which nothing else runs meanwhile."""


class Step(Record):
    """One part of a item, done by one worker."""

    tier: Tier
    """What it needs."""
    method: str
    """Which method of the served object does it."""
    limit_s: float
    """Seconds that it may run; waiting for a worker does not count."""


class WorkItem(Record):
    """A piece of work: its steps are done in order, until one of them says that the item is done."""

    item_id: str
    """Names it, uniquely within a run."""
    payload: Mapping[str, Any]
    """What every step is given, as JSON can hold it."""
    steps: tuple[Step, ...]
    """At least one."""
    affinity: str = ""
    """Items that share it are done quicker by a worker that has done one of them."""
    queue_limit_s: float = float("inf")
    """Seconds that each step may wait for a worker."""


class OutcomeStatus(StrEnum):
    """How a item ended."""

    DONE = "done"
    """The last step that was needed gave its value."""
    FAILED = "failed"
    """A step raised an error, on more than one worker."""
    CRASHED = "crashed"
    """More than one worker died of it."""
    TIMED_OUT = "timed_out"
    """A step ran longer than its limit."""
    QUEUE_TIMED_OUT = "queue_timed_out"
    """A step waited for a worker longer than the item allows."""
    CANCELLED = "cancelled"
    """Somebody asked for it to be given up before a worker took it."""
    NO_WORKER = "no_worker"
    """No worker is left that could do a step."""


class StepTimes(Record):
    """How long one step took."""

    method: str
    """Which step."""
    waited_s: float
    """Seconds from its being ready until a worker took it, the last time."""
    ran_s: float
    """Seconds that the worker took, the last time."""
    worker: str
    """Who did it."""
    attempts: int
    """How often it was begun."""


class Outcome(Record):
    """What came of one item."""

    item_id: str
    """Which."""
    status: OutcomeStatus
    """How it ended."""
    value: Mapping[str, Any] | None = None
    """What the last step gave, when DONE."""
    reason: str = ""
    """One sentence, when not DONE."""
    times: tuple[StepTimes, ...] = ()
    """Of each step that was begun."""


class Answer(Record):
    """What a step gave."""

    value: Mapping[str, Any]
    """The item's value, if this was the last step that it needed."""
    is_last: bool = True
    """Whether the item is done with this."""
    is_suspect: bool = False
    """Whether the step may have harmed the worker's device, which is then probed before the next one."""
