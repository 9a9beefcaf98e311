"""The speed of light: the least time that a task's bytes and operations take on a device."""

from collections.abc import Sequence

from cuda_agent.bench.gate import Facts, GateRecord
from cuda_agent.bench.record import BenchRecord


def add_floors(
    records: Sequence[BenchRecord], gate: Sequence[GateRecord], *, gflop_per_s: float | None
) -> tuple[BenchRecord, ...]:
    """The records with floors that count weights and, where the device's rate is given, operations too.

    Joined by task id; a record without a floor of the judge's, or whose task has no facts, stays as it is.
    """
    facts = {found.task_id: found.facts for found in gate}
    return tuple(_add_floor(record, facts.get(record.task_id), gflop_per_s=gflop_per_s) for record in records)


def compute_floor_ms(facts: Facts, *, copy_gb_per_s: float, gflop_per_s: float | None) -> float:
    """Milliseconds: every byte moved once at the copy's speed, or every operation at the device's, if longer.

    A floor of operations holds for the precision whose rate is given, and for the algorithm of the reference:
    what does fewer operations, such as a rewritten product, may come below it.
    """
    moved_ms = facts.moved_bytes / copy_gb_per_s / 1e6
    return max(moved_ms, facts.flops / gflop_per_s / 1e6) if gflop_per_s else moved_ms


def _add_floor(record: BenchRecord, facts: Facts | None, *, gflop_per_s: float | None) -> BenchRecord:
    """The judge's floor is of inputs and outputs alone, and so tells how fast the device copied then."""
    seen_bytes = facts.input_bytes + facts.output_bytes if facts else 0
    if facts is None or not seen_bytes or not record.floor_ms:
        return record
    copy_gb_per_s = seen_bytes / record.floor_ms / 1e6
    floor_ms = compute_floor_ms(facts, copy_gb_per_s=copy_gb_per_s, gflop_per_s=gflop_per_s)
    return record.model_copy(update={"floor_ms": floor_ms})
