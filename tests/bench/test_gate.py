"""How many tasks stand where is told by level."""

from cuda_agent.bench.gate import Basis, Facts, GateRecord, Standing, describe_gate


def make(level: int, standing: Standing, *, basis: Basis) -> GateRecord:
    return GateRecord(task_id="t", place="t", level=level, standing=standing, basis=basis)


def test_every_task_is_counted_once() -> None:
    records = [
        make(1, Standing.PASSES, basis=Basis.FULL),
        make(1, Standing.FAILS, basis=Basis.STAND_IN),
        make(2, Standing.UNKNOWN, basis=Basis.NONE),
    ]
    assert describe_gate(records).splitlines() == [
        "level 1: 2 tasks: 1 passes, 1 fails, 0 unknown (looked at as: 1 full, 1 stand_in, 0 none)",
        "level 2: 1 tasks: 0 passes, 0 fails, 1 unknown (looked at as: 0 full, 0 stand_in, 1 none)",
    ]


def test_the_least_that_moves_is_everything_once() -> None:
    assert Facts(input_bytes=1, weight_bytes=20, output_bytes=300, flops=0).moved_bytes == 321
