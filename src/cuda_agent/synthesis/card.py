"""A data set's card: how it came about and what is in it, counted from the records."""

import collections
import functools
import itertools
from collections.abc import Iterable, Sequence
from importlib.resources import files

import jinja2

from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.output import build_rows
from cuda_agent.synthesis.recipe import Recipe

CARD = "README.md"
"""The card's file in a run's folder."""

SHARES = """\
## What a policy makes of a sample

Shares with Wilson's 95 % intervals. Faster: by over 5 %, at the lower end of the speed-up's interval.

| policy | device | judge | tasks | verified | faster than eager | faster than eager and torch.compile |
|---|---|---|---|---|---|---|
"""
"""Heading of a card's last part, which runs over the tasks fill."""

_TIMES_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_SIMILARITIES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_BAR = 40
_SHOWN = 10


def write_card(fates: Sequence[Fate], *, recipe: Recipe, found: Crawl, versions: str) -> str:
    """The card in Markdown."""
    kept = [fate for fate in fates if fate.is_kept]
    rows = build_rows(fates)
    used = collections.Counter(name for row in rows for name in row.ops)
    nearest = sorted((fate.nearest for fate in kept if fate.nearest), key=lambda item: -item.similarity)
    template = (files(__package__) / "card.md.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(
        recipe=recipe,
        versions=versions,
        device=", ".join(sorted({row.device for row in rows})),
        candidates=len(fates),
        kept=len(kept),
        seconds=sum(fate.seconds for fate in fates),
        funnel=_build_funnel(fates),
        sources=_count(row.data_source for row in rows),
        families=len({row.family for row in rows}),
        precisions=_count(row.precision for row in rows),
        splits=_count(row.split for row in rows),
        tags=_count(tag for row in rows for tag in row.tags),
        joins=_count(join for fate in kept for join in fate.candidate.joins[1:]),
        eager=_build_histogram([row.eager_ms for row in rows], _TIMES_MS),
        similar=_build_histogram([item.similarity for item in nearest], _SIMILARITIES),
        nearest=nearest[:_SHOWN],
        available=len(found.operators),
        coverage=_build_coverage(found, used),
        reasons=_build_reasons(found),
        used=len(used),
        commonest=used.most_common(_SHOWN),
        faster=sum(row.compile_ms < row.eager_ms for row in rows),
    )


def add_shares(card: str, lines: Iterable[str]) -> str:
    """The card with further lines in its last part, each of them once."""
    body, _, old = card.partition(SHARES)
    known = dict.fromkeys([*old.splitlines(), *lines])
    return "".join([body.rstrip("\n") + "\n\n" if body else "", SHARES, *(f"{line}\n" for line in known)])


def list_shares(card: str) -> list[str]:
    """The lines that runs over the tasks have left in a card."""
    return card.partition(SHARES)[2].splitlines()


def _build_funnel(fates: Sequence[Fate]) -> list[tuple[Filter, int, int, str]]:
    """Each filter with what it dropped, what was left, and its commonest reason."""
    funnel = []
    left = len(fates)
    for filter_ in Filter:
        dropped = [fate for fate in fates if fate.dropped_by is filter_]
        left -= len(dropped)
        reasons = collections.Counter(_generalise(fate.reason) for fate in dropped)
        funnel.append((filter_, len(dropped), left, reasons.most_common(1)[0][0] if reasons else ""))
    return funnel


def _build_coverage(found: Crawl, used: collections.Counter[str]) -> list[tuple[str, int, int, int]]:
    """Each library's operators: found, fit for tasks, and in at least one of these."""
    libraries = sorted({name.partition(".")[0] for name in (*found.left_out, *_list_names(found))})
    coverage = []
    for library in libraries:
        fit = [name for name in _list_names(found) if name.partition(".")[0] == library]
        left_out = sum(name.partition(".")[0] == library for name in found.left_out)
        coverage.append((library, len(fit) + left_out, len(fit), len(used.keys() & set(fit))))
    return coverage


def _build_reasons(found: Crawl) -> list[tuple[str, str, list[str]]]:
    """Why operators of a library are left out, the commonest reason first, with their names."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, reason in found.left_out.items():
        library, _, rest = name.partition(".")
        short = rest.rpartition(".")[2] if library == "transformers" else rest
        groups.setdefault((library, reason.partition(":")[0]), []).append(short or library)
    return [(*key, names) for key, names in sorted(groups.items(), key=lambda item: -len(item[1]))]


def _list_names(found: Crawl) -> list[str]:
    return [operator.name for operator in found.operators]


def _generalise(reason: str) -> str:
    """A reason without its numbers, as a cell of a table."""
    kept = "".join("#" if character.isdigit() else character for character in reason)
    return functools.reduce(lambda text, _: text.replace("##", "#"), range(8), kept).replace("|", "/")[:100]


def _count(items: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(collections.Counter(items).items(), key=lambda item: (-item[1], item[0]))


def _build_histogram(values: Sequence[float], edges: Sequence[float]) -> list[tuple[str, int, str]]:
    """Bins with their counts and bars; the last bin holds its upper edge too."""
    bins = []
    pairs = list(itertools.pairwise(edges))
    counts = [
        sum(low <= value < high or (high == edges[-1] and value == high) for value in values)
        for low, high in pairs
    ]
    for (low, high), count in zip(pairs, counts, strict=True):
        bins.append((f"{low:g} to {high:g}", count, "#" * round(_BAR * count / max(max(counts), 1))))
    return bins
