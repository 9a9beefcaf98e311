"""A floor is what bytes and operations take at least; without facts the judge's own stays."""

import pytest

from cuda_agent.bench.floor import add_floors, compute_floor_ms
from cuda_agent.bench.gate import Basis, Facts, GateRecord, Standing
from tests.bench.conftest import BuildRecord

# 6 MB of inputs, 2 MB of outputs, 12 MB of weights, 4 GFLOP.
FACTS = Facts(input_bytes=6_000_000, output_bytes=2_000_000, weight_bytes=12_000_000, flops=4_000_000_000)


def find(task_id: str, facts: Facts | None) -> GateRecord:
    return GateRecord(
        task_id=task_id, place=task_id, level=0, standing=Standing.PASSES, basis=Basis.FULL, facts=facts
    )


def test_the_slower_of_bytes_and_operations() -> None:
    assert compute_floor_ms(FACTS, copy_gb_per_s=10.0, gflop_per_s=None) == pytest.approx(2.0)
    assert compute_floor_ms(FACTS, copy_gb_per_s=10.0, gflop_per_s=8000.0) == pytest.approx(2.0)
    assert compute_floor_ms(FACTS, copy_gb_per_s=10.0, gflop_per_s=1000.0) == pytest.approx(4.0)


def test_weights_and_operations_are_added_at_the_speed_that_the_judge_saw(build: BuildRecord) -> None:
    # 8 MB in 0.8 ms are 10 GB/s.
    records = [
        build("a-0", 2.0, floor_ms=0.8, candidate_ms=8.0),
        build("b-0", 2.0, floor_ms=0.8),
        build("a-0"),
    ]
    found = add_floors(records, [find("a-0", FACTS), find("b-0", None)], gflop_per_s=1000.0)
    assert [record.floor_ms for record in found] == [pytest.approx(4.0), 0.8, None]
    assert found[0].share_of_floor == pytest.approx(0.5)
    (bytes_alone,) = add_floors(records[:1], [find("a-0", FACTS)], gflop_per_s=None)
    assert bytes_alone.floor_ms == pytest.approx(2.0)
