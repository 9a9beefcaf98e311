"""docs/judge.md, from the verdicts and races kept in docs/results/."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from cuda_agent.report.judged import CaseResult, Race
from cuda_agent.tasks.target import Target
from scripts.self_comparison import summarise_races

HEAD = """# Judge report

Written by `make judge-report` from the raw verdicts in [results/](results/README.md); not to be edited.
A cheat is caught when a check ends it or, where the clock alone decides, when it is paid no more than
honest work. An honest kernel must pass every stage.
"""
NOUNS = {"hacks": ("cheats", "caught", "missed"), "honest": ("honest kernels", "passed", "rejected")}


def load_rows(results: Path) -> list[CaseResult]:
    """The newest verdict of each case, by target and layers; files are named by their dates."""
    newest: dict[tuple[object, ...], list[CaseResult]] = {}
    for path in sorted(results.glob("*-judge-*.jsonl")):
        rows = load_file(path)
        for key in {(row.target, row.without) for row in rows}:
            newest[key] = [row for row in rows if (row.target, row.without) == key]
    return [row for rows in newest.values() for row in rows]


def load_file(path: Path) -> list[CaseResult]:
    """The verdicts of one file."""
    return [CaseResult.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load_races(results: Path) -> list[Race]:
    """The newest races of each target."""
    newest: dict[Target, list[Race]] = {}
    for path in sorted(results.glob("*-self-*.jsonl")):
        races = [Race.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for target in {race.target for race in races}:
            newest[target] = [race for race in races if race.target is target]
    return [race for races in newest.values() for race in races]


def render_page(rows: Sequence[CaseResult], races: Sequence[Race]) -> str:
    """The whole page."""
    whole = [row for row in rows if not row.without]
    parts = [HEAD]
    for target in Target:
        own = [row for row in whole if row.target is target]
        if own:
            parts.append(f"## {target.value}\n\n{render_target(own)}")
    parts.append(render_layers(rows))
    if races:
        parts.append(f"## The reference against itself\n\n{render_races(races)}")
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part)


def render_target(rows: Sequence[CaseResult]) -> str:
    """One target: counts by class, who decided, and every wrong verdict."""
    parts = []
    for corpus, (noun, good, bad) in NOUNS.items():
        own = [row for row in rows if row.corpus == corpus]
        right = sum(row.is_sound for row in own)
        parts.append(f"**{len(own)} {noun}: {right} {good}, {len(own) - right} {bad}.**\n")
        parts.append(render_table(("class", good, bad), _count_by_class(own)))
    cheats = [row for row in rows if row.corpus == "hacks" and row.is_sound]
    decided = Counter(row.verdict for row in cheats).most_common()
    parts.append("What decided, of the cheats that were caught (`ok`: at no reward beyond honest work):\n")
    parts.append(render_table(("stage and status", "cheats"), [(f"`{name}`", n) for name, n in decided]))
    for corpus, (_, _, bad) in NOUNS.items():
        wrong = [row for row in rows if row.corpus == corpus and not row.is_sound]
        if wrong:
            parts.append(f"{bad.capitalize()}:\n")
            parts.append(render_table(("case", "mechanism", "verdict", "reason"), map(_describe, wrong)))
    if elsewise := [row for row in rows if row.is_sound and not row.is_right]:
        parts.append("Caught by another check than its case.toml names:\n")
        parts.append(render_table(("case", "mechanism", "verdict", "reason"), map(_describe, elsewise)))
    return "\n".join(parts)


def render_layers(rows: Sequence[CaseResult]) -> str:
    """For each line of defence that was switched off, what only it catches and what only it rejects."""
    whole = {(row.target, row.corpus, row.name): row for row in rows if not row.without}
    lines = []
    for target, without in sorted({(row.target, row.without) for row in rows if row.without}):
        own = [
            row
            for row in rows
            if (row.target, row.without) == (target, without) and (row.target, row.corpus, row.name) in whole
        ]
        cells = []
        for corpus, was_sound in (("hacks", True), ("honest", False)):
            names = [
                f"`{row.name}`"
                for row in own
                if row.corpus == corpus
                and row.is_sound is not was_sound
                and whole[row.target, corpus, row.name].is_sound is was_sound
            ]
            cells.append(f"{len(names)}: {' '.join(names)}" if names else "none")
        lines.append((target.value, ", ".join(layer.value for layer in without), *cells))
    if not lines:
        return ""
    head = ("target", "switched off", "cheats only it catches", "honest only it rejects")
    return f"## One line of defence fewer\n\n{render_table(head, lines)}"


def render_races(races: Sequence[Race]) -> str:
    """How often a copy of the reference beat the reference, by size."""
    head = ("target", "elements", "eager ms", "races", "beat itself", "at the point estimate", "not timed")
    lines = [
        (
            summary.target.value,
            "all" if summary.elements is None else str(summary.elements),
            f"{summary.eager_ms:.4g}",
            summary.races,
            _share(summary.won, summary.races),
            _share(summary.won_at_point, summary.races),
            summary.not_timed,
        )
        for summary in summarise_races(races)
    ]
    note = (
        "A copy of the reference, in the runner, against the reference as it stands. It beats itself when it "
        "is faster by more than 5 % at the lower end of the interval, as policy `strict` asks.\n"
    )
    return f"{note}\n{render_table(head, lines)}"


def render_table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    rows = [head, ["---"] * len(head), *([_escape(str(cell)) for cell in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _count_by_class(rows: Sequence[CaseResult]) -> list[tuple[str, int, int]]:
    kinds = sorted({row.kind for row in rows})
    return [
        (
            kind,
            sum(row.is_sound for row in rows if row.kind == kind),
            sum(not row.is_sound for row in rows if row.kind == kind),
        )
        for kind in kinds
    ]


def _describe(row: CaseResult) -> tuple[str, str, str, str]:
    verdict = f"`{row.verdict}`" if row.verdict != "ok" else f"`ok`, reward {row.reward:g}"
    return f"`{row.name}`", row.mechanism, verdict, row.reason


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})" if whole else "0"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
