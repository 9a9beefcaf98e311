"""Which tasks of a suite pass the task gate, how that was found, and what each task takes."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from cuda_agent.bench.record import BenchRecord, Flag, add_flags
from cuda_agent.config import Record
from cuda_agent.judge.gate import GateMeasurement

MEMORY_BYTES = 3 << 30
"""A form of a task that should take more memory is never run."""


class Basis(StrEnum):
    """On what form of a task the gate's measurements were made."""

    FULL = "full"
    """The task as it is."""
    STAND_IN = "stand_in"
    """The task with smaller sizes, which are named: its own are too big to be tried here."""
    NONE = "none"
    """Nothing was run: it could not be, in no form; the reason says why."""


class Standing(StrEnum):
    """Where a task stands with the gate."""

    PASSES = "passes"
    """Its outputs say something, and follow from inputs and weights."""
    FAILS = "fails"
    """They do not; the reason says how."""
    UNKNOWN = "unknown"
    """It was not examined."""


class Facts(Record):
    """What a task takes at its full sizes, found on the meta device: nothing is allocated."""

    input_bytes: int
    """Bytes of forward's arguments."""
    weight_bytes: int
    """Bytes of parameters and buffers."""
    output_bytes: int
    """Bytes of the outputs."""
    flops: int
    """Operations of matrix products, convolutions and attention; others are not counted."""

    @property
    def moved_bytes(self) -> int:
        """The least that must move: each input and weight read once, each output written once."""
        return self.input_bytes + self.weight_bytes + self.output_bytes


class Survey(Record):
    """A task to be looked at, as it travels to the process that runs it."""

    kind: Literal["survey"] = "survey"
    """Which message this is."""
    code: str
    """The program."""
    seed: int = 0
    """What weights and inputs are drawn from."""


class Surveyed(Record):
    """What was found."""

    kind: Literal["surveyed"] = "surveyed"
    """Which message this is."""
    facts: Facts | None = None
    """What it takes; None where it does not run on the meta device."""
    basis: Basis
    """On what form the gate was measured."""
    changes: str = ""
    """Which sizes a stand-in has."""
    gate: GateMeasurement | None = None
    """What the outputs look like; None where nothing was run."""
    reason: str = ""
    """Why nothing was run."""


class GateRecord(Record):
    """Where one task stands."""

    task_id: str
    """The task's readable id."""
    place: str
    """Where it is in its suite."""
    level: int
    """Its level; 0 where the suite has none."""
    standing: Standing
    """Whether it passes."""
    reason: str = ""
    """What is wrong with it, or why that is not known."""
    basis: Basis
    """On what form of the task this was found."""
    changes: str = ""
    """Which sizes a stand-in has."""
    facts: Facts | None = None
    """What the task takes at its full sizes; None where that could not be found."""
    seconds: float = 0.0
    """How long looking took."""


def flag_gated(records: Sequence[BenchRecord], gate: Sequence[GateRecord]) -> tuple[BenchRecord, ...]:
    """The records with what a survey found of their tasks, joined by task id."""
    by_task = {found.task_id: found for found in gate}
    return tuple(_flag(record, by_task.get(record.task_id)) for record in records)


def _flag(record: BenchRecord, found: GateRecord | None) -> BenchRecord:
    if found is None or found.standing is Standing.PASSES:
        return record
    flag = Flag.GATE if found.standing is Standing.FAILS else Flag.GATE_UNKNOWN
    form = f" [as {found.changes}]" if found.changes else ""
    return add_flags(record, flag).model_copy(
        update={"gate_reason": record.gate_reason or found.reason + form}
    )


def describe_gate(records: Sequence[GateRecord]) -> str:
    """How many of each level stand where, and on what basis, as lines."""
    lines = []
    for level in sorted({record.level for record in records}):
        of_level = [record for record in records if record.level == level]
        standings = Counter(record.standing.value for record in of_level)
        bases = Counter(record.basis.value for record in of_level)
        told = ", ".join(f"{standings[standing.value]} {standing.value}" for standing in Standing)
        based = ", ".join(f"{bases[basis.value]} {basis.value}" for basis in Basis)
        name = f"level {level}" if level else "tasks"
        lines.append(f"{name}: {len(of_level)} tasks: {told} (looked at as: {based})")
    return "\n".join(lines)
