"""The first page: what ran, on what, and the numbers that matter most."""

from collections.abc import Sequence
from typing import Any

from cuda_agent.bench.estimate import Estimate
from cuda_agent.bench.metrics import Baseline, Population, Rule
from cuda_agent.bench.record import BenchRecord
from cuda_agent.bench.summary import build_row
from cuda_agent.report.benchmark import find_benches
from cuda_agent.report.material import Material
from cuda_agent.report.page import Page


def build_overview(material: Material, pages: Sequence[Page]) -> Page:
    """What each run amounts to, and where to read on."""
    benches = find_benches(material)
    runs = [_describe_records(name, records) for name, records in benches.items()]
    return Page(
        name="index",
        template="overview",
        title="CUDA Agent, measured",
        lead="A PyTorch module goes in; an agent writes kernels; a judge it cannot reach says whether they "
        "are right and how fast. These pages are made of recorded runs, and of nothing else.",
        data={
            "runs": runs,
            "headlines": _list_headlines(material),
            "links": [
                {
                    "href": f"{page.name}.html",
                    "title": page.title,
                    "lead": page.lead,
                    "is_empty": page.is_empty,
                }
                for page in pages
                if page.in_menu
            ],
            "left_out": list(material.left_out),
        },
        missing=() if runs else ("No judged submission was found in what was given.",),
    )


def _describe_records(name: str, records: Sequence[BenchRecord]) -> dict[str, Any]:
    row = build_row(records)
    compiled = row.speedup[Population.CORRECT.value][Baseline.COMPILED.value]
    eager = row.speedup[Population.CORRECT.value][Baseline.EAGER.value]
    return {
        "name": name,
        "policies": sorted({record.policy for record in records}),
        "devices": sorted({record.device for record in records if record.device}),
        "targets": sorted({record.target.value for record in records}),
        "tasks": row.tasks,
        "passed": describe_estimate(row.passed),
        "faster": describe_estimate(row.faster[Rule.LOWER_BOUND.value][Baseline.COMPILED.value]),
        "over_eager": None if eager is None else describe_estimate(eager),
        "over_compiled": None if compiled is None else describe_estimate(compiled),
    }


def describe_estimate(estimate: Estimate) -> dict[str, float]:
    """A number with its interval and n."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def _list_headlines(material: Material) -> list[dict[str, str]]:
    """The counts that say how much there is behind the pages."""
    hacks = [case for case in material.cases if case.corpus == "hacks" and not case.without]
    honest = [case for case in material.cases if case.corpus == "honest" and not case.without]
    fates = [fate for synthesis in material.syntheses for fate in synthesis.fates]
    kept = sum(fate.is_kept for fate in fates)
    found = [
        ("episodes", len(material.episodes), "each can be replayed turn by turn", "agent"),
        ("cheats stopped", sum(case.is_sound for case in hacks), f"of {len(hacks)} tried", "judge"),
        ("honest kernels passed", sum(case.is_sound for case in honest), f"of {len(honest)} tried", "judge"),
        ("tasks made", kept, f"of {len(fates)} candidates", "pipeline"),
        ("steps of training", sum(len(each.steps) for each in material.trainings), "in all runs", "training"),
    ]
    return [
        {"label": label, "value": f"{value:,}", "note": note, "href": f"{page}.html"}
        for label, value, note, page in found
        if value
    ]
