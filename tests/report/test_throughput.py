"""Rates count what came after each task's first evaluation, and the page shows each run's."""

from pathlib import Path

from cuda_agent.report.judged import TimedEvaluation
from cuda_agent.report.load import load_material
from cuda_agent.report.material import Throughput
from cuda_agent.report.system import build_system_page
from cuda_agent.report.throughput import build_throughput_chart, describe_throughput


def make_run(count: int) -> Throughput:
    first = TimedEvaluation(item="chain-3/0", verdict="ok", at_s=30.0, build_s=9.0, judge_s=20.0)
    further = [
        TimedEvaluation(
            item=f"chain-3/{number}", verdict="ok", at_s=2.0 * number, build_s=1.0, judge_s=float(number)
        )
        for number in range(1, count + 1)
    ]
    return Throughput(run="box", evaluations=(first, *further))


def test_the_first_of_a_task_is_not_counted() -> None:
    found = describe_throughput(make_run(3))
    assert found["per_hour"] == 3600 * 3 / 6
    assert (found["tasks"], found["evaluations"]) == (1, 3)
    assert (found["build_s"], found["judge_s"], found["both_s"]) == (1.0, 2.0, 3.0)
    assert found["verdicts"] == ["ok"]
    [series] = build_throughput_chart([make_run(3)]).series
    assert (series.xs, series.ys) == ((2.0, 4.0, 6.0), (1.0, 2.0, 3.0))


def test_a_file_of_times_is_on_the_page_of_the_system(tmp_path: Path) -> None:
    lines = [each.model_dump_json() for each in make_run(2).evaluations]
    (tmp_path / "box-throughput.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "box-unbegun.jsonl").write_text(lines[0] + "\n")
    material = load_material([tmp_path])
    assert material.left_out == ()
    page = build_system_page(material)
    assert [each["run"] for each in page.data["throughputs"]] == ["box-throughput"]
    assert "throughput" in page.charts
    assert not page.is_empty
