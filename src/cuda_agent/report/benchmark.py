"""The page of the benchmark: levels by policies beside the paper's rows, curves, and every try."""

from collections.abc import Mapping, Sequence
from typing import Any

from cuda_agent.bench.estimate import Estimate
from cuda_agent.bench.metrics import (
    FAST_P,
    Baseline,
    Population,
    Rule,
    choose_best,
    compute_record_reward,
)
from cuda_agent.bench.published import load_published
from cuda_agent.bench.record import BenchRecord, build_record
from cuda_agent.bench.summary import Row, summarise
from cuda_agent.report.charts import Chart, ChartKind, Mark, Series
from cuda_agent.report.episodes import SHOWN_EPISODES, name_episode
from cuda_agent.report.material import Material
from cuda_agent.report.page import Page

COLUMNS = (
    ("place", "task", "text"),
    ("href", "episode", "link"),
    ("run", "run", "text"),
    ("level", "level", "number"),
    ("policy", "policy", "text"),
    ("status", "status", "text"),
    ("reward", "reward", "number"),
    ("candidate_ms", "ms", "number"),
    ("over_eager", "over eager", "ratio"),
    ("over_compiled", "over compile", "ratio"),
    ("share_of_floor", "of floor", "percent"),
    ("reason", "reason", "long"),
)
"""Columns of the table of tries: key, heading, and how a cell is written; empty ones are left out."""
REASON_CHARACTERS = 200
NOT_RECORDED = "not recorded"
"""The policy of an evaluation that was kept by itself."""


def find_benches(material: Material) -> dict[str, tuple[BenchRecord, ...]]:
    """All tries by where they were found; evaluations that lay by themselves are tries of their folder."""
    benches = {each.run: each.records for each in material.benches}
    loose: dict[str, list[BenchRecord]] = {}
    for found in material.evaluations:
        record = build_record(found.evaluation, policy=NOT_RECORDED)
        own = loose.setdefault(found.run, [])
        own.append(record.model_copy(update={"number": sum(each.task_id == record.task_id for each in own)}))
    everything = benches | {run: tuple(records) for run, records in loose.items() if run not in benches}
    return dict(sorted(everything.items()))


def build_benchmark_page(material: Material) -> Page:
    """Every run's numbers by level, the published rows, and every try with a link to its episode."""
    benches = find_benches(material)
    rows = {run: summarise(records) for run, records in benches.items()}
    claimed = load_published()
    missing = () if benches else ("No judged submission was found, so only the published rows are here.",)
    return Page(
        name="benchmark",
        template="benchmark",
        title="The benchmark",
        lead="How many tasks are solved, how many faster than the baselines, and by how much.",
        data={
            "rows": [_describe_row(run, row) for run, found in rows.items() for row in found],
            "has_levels": any(record.level for records in benches.values() for record in records),
            "claimed": claimed.model_dump(mode="json"),
        },
        charts=_build_charts(benches, rows),
        tables={"tries": _build_table(material, benches)} if benches else {},
        missing=missing,
        is_empty=not benches,
    )


def _describe_row(run: str, row: Row) -> dict[str, Any]:
    faster = row.faster[Rule.LOWER_BOUND.value]
    means = row.speedup[Population.CORRECT.value]
    return {
        "run": run,
        "level": row.level,
        "tasks": row.tasks,
        "tries": row.tries,
        "statuses": row.statuses,
        "passed": _dump(row.passed),
        "faster_eager": _dump(faster[Baseline.EAGER.value]),
        "faster_compile": _dump(faster[Baseline.COMPILED.value]),
        "over_eager": _dump(means[Baseline.EAGER.value]),
        "over_compile": _dump(means[Baseline.COMPILED.value]),
        "pass_at_k": {str(k): _dump(value) for k, value in row.pass_at_k.items()},
    }


def _dump(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else estimate.model_dump()


def _build_charts(
    benches: Mapping[str, Sequence[BenchRecord]], rows: Mapping[str, Sequence[Row]]
) -> dict[str, Chart]:
    if not benches:
        return {}
    best = {run: choose_best(records) for run, records in benches.items()}
    return {
        "fast_p": _build_curves(rows),
        "against_compile": _build_scatter(best),
        "against_floor": _build_roofline(best),
    }


def _build_curves(rows: Mapping[str, Sequence[Row]]) -> Chart:
    series = []
    for run, found in rows.items():
        curve = found[0].fast_p[Baseline.COMPILED.value]
        estimates = [curve[p] for p in FAST_P]
        series.append(
            Series(
                name=f"{run} (n = {found[0].tasks})",
                xs=FAST_P,
                ys=tuple(100 * each.value for each in estimates),
                lows=tuple(100 * each.low for each in estimates),
                highs=tuple(100 * each.high for each in estimates),
            )
        )
    return Chart(
        kind=ChartKind.LINES,
        title="fast_p over torch.compile",
        caption="Share of all tasks that are right and more than p times as fast as torch.compile; at p = 0 "
        "the pass rate. Each task's best try; intervals are of 95 %, over tasks.",
        series=tuple(series),
        x_label="p",
        y_label="% of tasks",
        unit=" %",
    )


def _build_scatter(best: Mapping[str, Sequence[BenchRecord]]) -> Chart:
    series = []
    for run, records in best.items():
        timed = [each for each in records if each.candidate_ms and (each.compiled_ms or each.eager_ms)]
        series.append(
            Series(
                name=run,
                xs=tuple(each.compiled_ms or each.eager_ms or 0.0 for each in timed),
                ys=tuple(each.candidate_ms for each in timed),
                notes=tuple(_tell(each) for each in timed),
            )
        )
    n = sum(len(each.xs) for each in series)
    return Chart(
        kind=ChartKind.SCATTER,
        title="Each task against torch.compile",
        caption=f"Median time of the kernel over that of torch.compile, in ms; below the line the kernel is "
        f"faster. n = {n} right and timed tasks, each with its best try.",
        series=tuple(series),
        x_label="torch.compile, ms",
        y_label="kernel, ms",
        x_log=True,
        y_log=True,
        marks=(Mark(axis="xy", value=1.0, label="equal"),),
        unit=" ms",
    )


def _build_roofline(best: Mapping[str, Sequence[BenchRecord]]) -> Chart:
    series = []
    for run, records in best.items():
        timed = [each for each in records if each.share_of_floor is not None]
        series.append(
            Series(
                name=run,
                xs=tuple(each.floor_ms or 0.0 for each in timed),
                ys=tuple(100 * (each.share_of_floor or 0.0) for each in timed),
                notes=tuple(_tell(each) for each in timed),
            )
        )
    return Chart(
        kind=ChartKind.SCATTER,
        title="Each task against the roofline",
        caption="How near a kernel comes to the least time that its device needs to read the inputs and "
        "weights and write the outputs, by the bandwidth of a copy that the judge timed; at 100 % nothing is "
        "left to gain. Above it the kernel did better than that copy: from caches, or on a busy machine. "
        f"n = {sum(len(each.xs) for each in series)}.",
        series=tuple(series),
        x_label="floor, ms",
        y_label="% of the floor's speed",
        x_log=True,
        marks=(Mark(axis="y", value=100.0, label="floor"),),
        unit=" %",
    )


def _tell(record: BenchRecord) -> str:
    ratio = record.over_compiled
    interval = f", {ratio.point:.2f}x ({ratio.low:.2f} to {ratio.high:.2f})" if ratio else ""
    return f"{record.place}{interval}"


def _build_table(material: Material, benches: Mapping[str, Sequence[BenchRecord]]) -> dict[str, Any]:
    pages = {
        (each.run, each.trajectory.task_id, each.trajectory.episode): name_episode(each)
        for each in material.episodes[:SHOWN_EPISODES]
        if each.step is None
    }
    rows = []
    for run, records in benches.items():
        for each in records:
            page = pages.get((run, each.task_id, each.number))
            rows.append(
                [
                    each.place,
                    f"{page}.html#kernel" if page else None,
                    run,
                    each.level or None,
                    each.policy,
                    each.status.value,
                    compute_record_reward(each) if each.judge else None,
                    each.candidate_ms,
                    each.over_eager.point if each.over_eager else None,
                    each.over_compiled.point if each.over_compiled else None,
                    each.share_of_floor,
                    each.reason[:REASON_CHARACTERS],
                ]
            )
    # Whoever looks for an episode finds it without sorting.
    rows.sort(key=lambda row: row[1] is None)
    filled = [index for index in range(len(COLUMNS)) if any(row[index] not in (None, "") for row in rows)]
    columns = [dict(zip(("key", "title", "form"), COLUMNS[index], strict=True)) for index in filled]
    return {"columns": columns, "rows": [[row[index] for index in filled] for row in rows]}
