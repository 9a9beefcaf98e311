"""The page of the data pipeline: how candidates become tasks, and why the others do not."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cuda_agent.report.charts import Chart, build_histogram, count_bars
from cuda_agent.report.material import Material
from cuda_agent.report.page import Page
from cuda_agent.report.shown import clip
from cuda_agent.synthesis.fate import Fate, Filter

TIMES_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
SIMILARITIES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ASKS = {
    Filter.REPLY: "is the model's reply one program?",
    Filter.PARSES: "is it in KernelBench's form?",
    Filter.DUPLICATE: "is it new?",
    Filter.LABEL: "does it hold the operators that it is said to?",
    Filter.SIMILAR: "is it unlike KernelBench?",
    Filter.STOCHASTIC: "does it draw no random numbers?",
    Filter.EAGER: "does it run, in time and memory?",
    Filter.DETERMINISTIC: "does it give the same twice?",
    Filter.GATE: "is its output worth judging?",
    Filter.REDUNDANT: "does every operator change something?",
    Filter.WINDOW: "is it neither too fast nor too slow?",
    Filter.COMPILE: "does torch.compile agree with eager?",
}
"""What each filter asks; a candidate is dropped by the first no."""
EXAMPLES = 6
"""How many kept candidates are shown; of dropped ones one for each filter."""
REASONS = 3
"""How many of a filter's reasons are told."""


def build_pipeline_page(material: Material) -> Page:
    """Funnel, operators, times, likeness to KernelBench, and examples."""
    fates = [fate for synthesis in material.syntheses for fate in synthesis.fates]
    kept = [fate for fate in fates if fate.is_kept]
    missing = () if fates else ("No synthesis was found: `cuda-agent synth --count 10 --out DIR` makes one.",)
    return Page(
        name="pipeline",
        template="pipeline",
        title="The data pipeline",
        lead="Operators are crawled, composed into programs, and filtered until only tasks worth training on "
        "are left.",
        data={
            "runs": [each.run for each in material.syntheses],
            "candidates": len(fates),
            "kept": len(kept),
            "funnel": build_funnel(fates),
            "examples": [_describe(fate) for fate in _choose_examples(fates)],
        },
        charts=_build_charts(fates, kept) if fates else {},
        missing=missing,
        is_empty=not fates,
    )


def build_funnel(fates: Sequence[Fate]) -> list[dict[str, Any]]:
    """Each filter in order: what reached it, what it dropped, and its commonest reasons."""
    left = len(fates)
    funnel = []
    for filter_ in Filter:
        dropped = [fate for fate in fates if fate.dropped_by is filter_]
        reasons = Counter(clip(fate.reason, 160) for fate in dropped)
        funnel.append(
            {
                "filter": filter_.value,
                "asks": ASKS[filter_],
                "reached": left,
                "dropped": len(dropped),
                "left": left - len(dropped),
                "reasons": [{"reason": each, "count": n} for each, n in reasons.most_common(REASONS)],
            }
        )
        left -= len(dropped)
    return funnel


def _build_charts(fates: Sequence[Fate], kept: Sequence[Fate]) -> dict[str, Chart]:
    """The operators, the times and the likeness of the candidates."""
    times = [fate.measured.eager_ms for fate in fates if fate.measured.eager_ms > 0]
    similar = [fate.nearest.similarity for fate in fates if fate.nearest is not None]
    operators = [name.rpartition(".")[2] for fate in fates for name in fate.candidate.ops]
    sources = [fate.candidate.data_source for fate in kept]
    charts = {
        "operators": count_bars(
            "Operators of all candidates",
            operators,
            caption=f"How often each operator was drawn: {len(operators)} in {len(fates)} candidates.",
        ),
        "sources": count_bars(
            "Kept tasks by library and number of operators",
            sources,
            caption=f"n = {len(kept)} kept tasks; torch#2 is two torch operators in sequence.",
        ),
        "times": build_histogram(
            "Eager time in ms",
            times,
            edges=TIMES_MS,
            caption=f"Median eager time of the n = {len(times)} candidates that came to be timed; those "
            "outside of 1 to 100 ms are dropped by the window.",
        ),
    }
    if similar:
        charts["similar"] = build_histogram(
            "Similarity to the nearest KernelBench task",
            similar,
            edges=SIMILARITIES,
            caption=f"Likeness of syntax trees, 1 is identical; n = {len(similar)}. "
            "Above 0.9 a candidate is dropped.",
        )
    return charts


def _choose_examples(fates: Sequence[Fate]) -> list[Fate]:
    first = {fate.dropped_by: fate for fate in reversed(fates) if fate.dropped_by is not None}
    dropped = [first[filter_] for filter_ in Filter if filter_ in first]
    return [fate for fate in fates if fate.is_kept][:EXAMPLES] + dropped


def _describe(fate: Fate) -> dict[str, Any]:
    return {
        "operators": list(fate.candidate.ops),
        "dropped_by": "" if fate.dropped_by is None else fate.dropped_by.value,
        "reason": fate.reason,
        "eager_ms": fate.measured.eager_ms or None,
        "compile_ms": fate.measured.compile_ms or None,
        "nearest": fate.nearest.name if fate.nearest else "",
        "similarity": fate.nearest.similarity if fate.nearest else None,
        "code": fate.candidate.code,
    }
