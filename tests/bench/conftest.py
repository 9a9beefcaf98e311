"""Records to order."""

from collections.abc import Callable

import pytest

from cuda_agent.bench.record import BenchRecord, RecordStatus
from cuda_agent.judge.result import Ratio
from cuda_agent.tasks.target import Target

BuildRecord = Callable[..., BenchRecord]


@pytest.fixture(scope="session")
def build() -> BuildRecord:
    """From a task's id and its speed-ups; without one it is a failure."""
    return build_record


def build_record(
    task_id: str,
    over_eager: float | None = None,
    *,
    over_compiled: float | None = None,
    **fields: object,
) -> BenchRecord:
    """A record whose intervals reach 1 % to either side; `over_compiled` is `over_eager` unless given."""
    eager, compiled = (build_ratio(value) for value in (over_eager, over_compiled or over_eager))
    is_correct = over_eager is not None
    present = {
        "place": task_id,
        "policy": "p",
        "judge": "strict",
        "target": Target.CPU,
        "status": RecordStatus.CORRECT if is_correct else RecordStatus.FAILED,
        "over_eager": eager,
        "over_compiled": compiled,
        "candidate_ms": 1.0 if is_correct else None,
        "eager_ms": over_eager,
        "compiled_ms": over_compiled or over_eager,
        **fields,
    }
    return BenchRecord.model_validate({"task_id": task_id, **present})


def build_ratio(point: float | None) -> Ratio | None:
    """A ratio with 1 % to either side."""
    return None if point is None else Ratio(point=point, low=point * 0.99, high=point * 1.01)
