"""A table of baselines has a row for every task in every mode, whatever became of it, each timed once."""

from pathlib import Path

import pytest
from pyarrow import parquet

from cuda_agent.bench.baselines import (
    BaselineRow,
    BaselinesConfig,
    BaselineStatus,
    find_status,
    measure_suite,
    render_baselines,
    write_baselines,
)
from cuda_agent.bench.suite import load_suite
from cuda_agent.judge.baseline import Baseline
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.judge.result import Ratio, Timing
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

SUITE = Path(__file__).parents[1] / "suite"
ROW = BaselineRow(
    task_id="a-0",
    place="level1/1_a",
    level=1,
    problem=1,
    target=Target.CPU,
    policy="strict",
    mode=CompileMode.DEFAULT,
    status=BaselineStatus.TIMED,
    eager_ms=2.0,
    compiled_ms=1.0,
    speedup=Ratio(point=2.0, low=1.9, high=2.1),
    device="a cpu",
    versions={"torch": "2", "driver": "1"},
    copy_gb_per_s=10.0,
)
REFUSED = ROW.model_copy(
    update={
        "status": BaselineStatus.REFUSED,
        "reason": "zeros | would pass",
        **dict.fromkeys(("eager_ms", "compiled_ms", "speedup", "copy_gb_per_s")),
    }
)


def test_the_table_holds_every_row(tmp_path: Path) -> None:
    write_baselines(tmp_path / "x.parquet", [ROW, REFUSED])
    rows = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [(row["status"], row["speedup"], row["speedup_low"]) for row in rows] == [
        ("timed", 2.0, 1.9),
        ("refused", None, None),
    ]
    assert (rows[0]["versions"], rows[0]["mode"]) == ("driver 1, torch 2", "default")
    text = render_baselines([ROW, REFUSED])
    assert "| level1/1_a | default | timed | 2 | 1 | 2.00x (1.90 to 2.10) |  |" in text
    assert "| refused | - | - | - | zeros \\| would pass |" in text


def test_a_refused_task_has_its_rows_and_what_is_done_is_not_done_again(sandbox: Sandbox) -> None:
    suite = load_suite(SUITE, only=["level2/2_all_ones"])
    config = BaselinesConfig(suite=suite, target=Target.CPU, policy="strict", modes=tuple(CompileMode)[:2])
    rows = list(measure_suite(config, sandbox=sandbox))
    assert [(row.mode, row.status) for row in rows] == [
        (CompileMode.DEFAULT, BaselineStatus.REFUSED),
        (CompileMode.REDUCE_OVERHEAD, BaselineStatus.REFUSED),
    ]
    assert "constant" in rows[0].reason
    assert list(measure_suite(config, sandbox=sandbox, done=rows)) == []


def test_times_that_scatter_are_told_from_those_that_hold() -> None:
    times = Timing(median_ms=2.0, calls_ms=(2.0,))
    fields = {"eager": times, "compiled": times, "compile_error": "", "measured": ""}
    sharp = Baseline.model_validate({**fields, "compiled_speedup": Ratio(point=1.0, low=0.9, high=1.1)})
    blunt = sharp.model_copy(update={"compiled_speedup": Ratio(point=1.0, low=0.8, high=1.2)})
    alone = sharp.model_copy(update={"compiled": None, "compiled_speedup": None})
    assert [find_status(each) for each in (sharp, blunt, alone)] == [
        BaselineStatus.TIMED,
        BaselineStatus.BLUNT,
        BaselineStatus.EAGER_ALONE,
    ]


@pytest.mark.slow
@pytest.mark.timing
def test_a_task_is_timed(sandbox: Sandbox) -> None:
    suite = load_suite(SUITE, only=["level1/1_relu"])
    config = BaselinesConfig(suite=suite, target=Target.CPU, policy="strict", modes=(CompileMode.DEFAULT,))
    (row,) = measure_suite(config, sandbox=sandbox)
    assert row.status in (BaselineStatus.TIMED, BaselineStatus.BLUNT)  # the machine may be busy
    assert row.eager_ms is not None
    assert row.compiled_ms is not None
    assert row.speedup is not None
    assert row.speedup.point == pytest.approx(row.eager_ms / row.compiled_ms, rel=0.5)
    assert row.measured
