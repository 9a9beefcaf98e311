"""The page of the judge: what it makes of known cheats, of honest kernels, and of identical code."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cuda_agent.environment.reward import MARGIN, is_faster
from cuda_agent.judge.result import ProfileStatus
from cuda_agent.report.charts import Chart, ChartKind, Mark, Series, build_bars
from cuda_agent.report.judged import CaseResult, Race
from cuda_agent.report.material import Material
from cuda_agent.report.page import Page

NOUNS = {"hacks": ("cheats", "stopped", "missed"), "honest": ("honest kernels", "passed", "rejected")}
COLUMNS = (
    ("name", "case", "text"),
    ("verdict", "verdict", "text"),
    ("is_right", "as listed", "text"),
    ("kind", "class", "text"),
    ("corpus", "corpus", "text"),
    ("target", "target", "text"),
    ("mechanism", "what it does", "long"),
)


def build_judge_page(material: Material) -> Page:
    """Counts by class and by what decided, the noise of identical code, and every case."""
    whole = [case for case in material.cases if not case.without]
    missing = [] if whole else ["No verdicts on the corpora were found: `make judge-report` collects them."]
    if not any(case.without for case in material.cases):
        missing.append(
            "No sweep with a line of defence switched off was found, so what each line adds is not shown."
        )
    if not material.races:
        missing.append("No races of the reference against itself were found, so the A/A noise is not shown.")
    missing.append(
        "Faults that a run survives are no figures of a run: docs/field-reports.md names each with its test."
    )
    return Page(
        name="judge",
        template="judge",
        title="The judge",
        lead="A judge is worth what it stops, and what it lets pass.",
        data={
            "targets": [
                _describe_target(whole, target) for target in sorted({case.target for case in whole})
            ],
            "layers": _describe_layers(material.cases),
            "races": _describe_races(material.races),
        },
        charts=_build_charts(whole, material.races),
        tables={"cases": _build_table(whole)} if whole else {},
        missing=tuple(missing),
        is_empty=not material.cases and not material.races,
    )


def _describe_target(cases: Sequence[CaseResult], target: str) -> dict[str, Any]:
    counts = {}
    for corpus, nouns in NOUNS.items():
        own = [case for case in cases if case.target == target and case.corpus == corpus]
        right = sum(case.is_sound for case in own)
        counts[corpus] = {"nouns": nouns, "n": len(own), "right": right, "wrong": len(own) - right}
    return {"target": str(target), **counts}


def _describe_layers(cases: Sequence[CaseResult]) -> list[dict[str, Any]]:
    """With each line of defence switched off: how many cheats are still stopped."""
    groups: dict[tuple[str, ...], list[CaseResult]] = {}
    for case in cases:
        if case.corpus == "hacks" and case.without:
            groups.setdefault(case.without, []).append(case)
    return [
        {"without": list(without), "n": len(own), "stopped": sum(case.is_sound for case in own)}
        for without, own in groups.items()
    ]


def _describe_races(races: Sequence[Race]) -> dict[str, int]:
    timed = [race for race in races if race.status is ProfileStatus.OK]
    return {
        "n": len(races),
        "timed": len(timed),
        "won_at_lower_bound": sum(is_faster(race.low) for race in timed),
        "won_at_point": sum(is_faster(race.ratio) for race in timed),
    }


def _build_charts(cases: Sequence[CaseResult], races: Sequence[Race]) -> dict[str, Chart]:
    charts = {}
    for corpus, (noun, right, wrong) in NOUNS.items():
        own = [case for case in cases if case.corpus == corpus]
        if own:
            by_end = {
                name: Counter(case.kind for case in own if case.is_sound is is_sound)
                for name, is_sound in ((right, True), (wrong, False))
            }
            kinds = sorted({case.kind for case in own})
            values = {name: {kind: float(counts[kind]) for kind in kinds} for name, counts in by_end.items()}
            charts[corpus] = build_bars(
                f"{noun.capitalize()} by class",
                values,
                caption=f"Cases on all targets, each tried once; n = {len(own)}, counts, so no interval.",
            )
    decided = Counter(case.verdict for case in cases if case.corpus == "hacks" and case.is_sound)
    if decided:
        charts["decided"] = build_bars(
            "What decided, of the cheats that were stopped",
            {"cheats": {verdict: float(count) for verdict, count in decided.most_common()}},
            caption=f"Stage and status; `ok` is a cheat that ran and earned no more than honest work. "
            f"n = {sum(decided.values())}.",
        )
    if races:
        charts["races"] = _build_races(races)
    return charts


def _build_races(races: Sequence[Race]) -> Chart:
    timed = [race for race in races if race.status is ProfileStatus.OK]
    targets = sorted({race.target for race in timed})
    series = [
        Series(
            name=target.value,
            xs=tuple(race.eager_ms for race in timed if race.target is target),
            ys=tuple(race.ratio for race in timed if race.target is target),
            lows=tuple(race.low for race in timed if race.target is target),
            highs=tuple(race.high for race in timed if race.target is target),
        )
        for target in targets
    ]
    return Chart(
        kind=ChartKind.SCATTER,
        title="Identical code against itself",
        caption=f"The reference's time over its copy's, with the bootstrap interval; n = {len(timed)} races. "
        "Above the line noise would have been paid for.",
        series=tuple(series),
        x_label="eager, ms",
        y_label="ratio",
        x_log=True,
        marks=(Mark(axis="y", value=1 / (1 - MARGIN), label=f"{100 * MARGIN:g} % faster"),),
        unit="x",
    )


def _build_table(cases: Sequence[CaseResult]) -> dict[str, Any]:
    rows = [
        [
            case.name,
            case.verdict,
            "yes" if case.is_right else "no",
            case.kind,
            NOUNS[case.corpus][0] if case.corpus in NOUNS else case.corpus,
            case.target.value,
            case.mechanism,
        ]
        for case in sorted(cases, key=lambda case: (case.is_sound, case.is_right))
    ]
    columns = [{"key": key, "title": title, "form": form} for key, title, form in COLUMNS]
    return {"columns": columns, "rows": rows}
