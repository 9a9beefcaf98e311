"""How many evaluations a machine does in an hour, from the times that `scripts/throughput.py` keeps."""

import statistics
from collections.abc import Sequence
from typing import Any

from cuda_agent.report.charts import Chart, ChartKind, Series
from cuda_agent.report.judged import TimedEvaluation
from cuda_agent.report.material import Throughput


def describe_throughput(throughput: Throughput) -> dict[str, Any]:
    """A run's rate, and the medians of what one evaluation took, once each task was open."""
    further = list_further(throughput.evaluations)
    return {
        "run": throughput.run,
        "tasks": sum(each.opens_task for each in throughput.evaluations),
        "evaluations": len(further),
        "per_hour": 3600 * len(further) / further[-1].at_s,
        "build_s": statistics.median(each.build_s for each in further),
        "judge_s": statistics.median(each.judge_s for each in further),
        "both_s": statistics.median(each.build_s + each.judge_s for each in further),
        "verdicts": sorted({each.verdict for each in further}),
    }


def build_throughput_chart(found: Sequence[Throughput]) -> Chart:
    """How many were done by when."""
    series = []
    for throughput in found:
        done_at_s = [each.at_s for each in list_further(throughput.evaluations)]
        counts = tuple(map(float, range(1, len(done_at_s) + 1)))
        series.append(Series(name=throughput.run, xs=tuple(done_at_s), ys=counts))
    return Chart(
        kind=ChartKind.LINES,
        title="Evaluations done by when",
        caption="Each first one of a task, which pays for its baselines, went before and is not counted. "
        "One run each, so no interval.",
        series=tuple(series),
        x_label="seconds",
        y_label="evaluations",
    )


def list_further(evaluations: Sequence[TimedEvaluation]) -> list[TimedEvaluation]:
    """All but the first of each task, in the order in which they came."""
    return [each for each in evaluations if not each.opens_task]
