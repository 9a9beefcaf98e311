"""Records and summaries as Markdown, CSV and parquet, for people and for other programs."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet

from cuda_agent.bench.compare import Comparison, Verdict
from cuda_agent.bench.estimate import Estimate
from cuda_agent.bench.metrics import Baseline, Rule
from cuda_agent.bench.protocols import Opinion, Pairing
from cuda_agent.bench.published import Published
from cuda_agent.bench.record import BenchRecord
from cuda_agent.bench.summary import Row, Tasks
from cuda_agent.printable import make_printable

_TEXT, _NUMBER, _WHOLE = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
SCHEMA = pyarrow.schema(
    [
        *((name, _TEXT) for name in ("task_id", "place")),
        *((name, _WHOLE) for name in ("level", "problem", "number")),
        *((name, _TEXT) for name in ("policy", "judge", "target", "status", "verdict", "reason")),
        *(
            (name, _NUMBER)
            for name in ("candidate_ms", "eager_ms", "compiled_ms", "floor_ms", "share_of_floor")
        ),
        *((f"over_eager{end}", _NUMBER) for end in ("", "_low", "_high")),
        *((f"over_compile{end}", _NUMBER) for end in ("", "_low", "_high")),
        *((name, _TEXT) for name in ("flags", "gate_reason", "solution", "submission_sha", "device")),
    ]
)
"""The columns of a table of records; those of numbers are empty where a try has none."""

_LEVELS = ("all", *(f"level {number}" for number in range(1, 10)))


def flatten_record(record: BenchRecord) -> dict[str, object]:
    """A record as one row of the table."""
    row = record.model_dump(
        mode="json", exclude={"over_eager", "over_compiled", "versions", "method", "flags", "notes"}
    )
    for name, ratio in (("over_eager", record.over_eager), ("over_compile", record.over_compiled)):
        ends = (ratio.point, ratio.low, ratio.high) if ratio else (None, None, None)
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
    return row | {"flags": " ".join(record.flags), "share_of_floor": record.share_of_floor}


def write_parquet(path: Path, records: Sequence[BenchRecord]) -> None:
    """Write records as parquet, every column typed."""
    rows = list(map(flatten_record, records))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=SCHEMA), path, compression="zstd")


def render_csv(records: Sequence[BenchRecord]) -> str:
    """Records as CSV, one line each after the names of the columns."""
    text = io.StringIO()
    writer = csv.DictWriter(text, SCHEMA.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flatten_record, records))
    return text.getvalue()


def render_summary(rows: Sequence[Row], policy: str, *, published: Published | None = None) -> str:
    """Summaries as a table like the paper's, in Markdown, with published rows of those levels."""
    titles = ["policy", "tasks", "n", "pass %", "beats eager %", "beats compile %"]
    titles += [f"geomean over {each}, {of}" for of in ("correct", "all") for each in ("eager", "compile")]
    lines = [
        [f"{policy}, judge {row.judge or 'none'}", _name_tasks(row), str(row.tasks), *_list_numbers(row)]
        for row in rows
    ]
    for claim in published.rows if published else ():
        if claim.level in [row.level for row in rows]:
            percents = (claim.passed_percent, claim.faster_eager_percent, claim.faster_compile_percent)
            speedups = (f"{claim.speedup_eager:.2f}x", f"{claim.speedup_compile:.2f}x", "-", "-")
            told = [f"{value:g}" for value in percents]
            lines.append(
                [f"{claim.policy} (claimed)", _LEVELS[claim.level], str(claim.tasks), *told, *speedups]
            )
    source = f"\nclaimed: {published.source} ({published.date}); {published.note}\n" if published else ""
    return render_markdown(titles, lines) + source


def _name_tasks(row: Row) -> str:
    level = _LEVELS[row.level] if row.level < len(_LEVELS) else f"level {row.level}"
    return level if row.population is Tasks.ALL else f"{level}, {row.population.value}"


def _list_numbers(row: Row) -> list[str]:
    faster = row.faster[Rule.LOWER_BOUND.value]
    rates = [row.passed, *(faster[each.value] for each in Baseline)]
    means = [row.speedup[of][each.value] for of in ("correct", "all") for each in Baseline]
    return [*map(_format_rate, rates), *map(_format_speedup, means)]


def render_tasks(records: Sequence[BenchRecord]) -> str:
    """One line a task in Markdown: status, speed-ups, how near the floor, flags, and why it failed."""
    titles = ["task", "judge", "status", "ms", "over eager", "over compile", "of floor", "flags", "reason"]
    return render_markdown(titles, [_list_cells(record) for record in records])


def _list_cells(record: BenchRecord) -> list[str]:
    share = record.share_of_floor
    ratios = [f"{ratio.point:.2f}x" if ratio else "-" for ratio in (record.over_eager, record.over_compiled)]
    return [
        record.place,
        record.judge,
        record.status.value,
        "-" if record.candidate_ms is None else f"{record.candidate_ms:.3f}",
        *ratios,
        "-" if share is None else f"{share:.0%}",
        " ".join(record.flags),
        record.reason[:160],
    ]


def render_tries(rows: Sequence[Row]) -> str:
    """pass@k and best-of-k in Markdown, one line for each row; nothing where no task has several tries."""
    ks = sorted({k for row in rows for k in row.pass_at_k})
    if not ks:
        return ""
    titles = ["judge", "tasks", "tries"]
    titles += [f"pass@{k} %" for k in ks] + [f"best reward of {k}" for k in ks]
    lines = []
    for row in rows:
        passes = [_format_rate(row.pass_at_k[k]) if k in row.pass_at_k else "-" for k in ks]
        rewards = [f"{row.best_of_k[k].value:.2f}" if k in row.best_of_k else "-" for k in ks]
        lines.append([row.judge or "none", _name_tasks(row), str(row.tries), *passes, *rewards])
    return render_markdown(titles, lines)


def render_refused(records: Sequence[BenchRecord]) -> str:
    """The tasks that the gate refuses, each with its reason."""
    lines = [
        f"- {make_printable(record.place)}: {make_printable(record.gate_reason)}\n" for record in records
    ]
    return (
        f"not worth judging, and so missing from the rows that say so ({len(lines)}):\n{''.join(lines)}"
        if lines
        else ""
    )


def render_pairings(pairings: Sequence[Pairing], first: str, *, second: str) -> str:
    """The same solutions under two policies in Markdown: the score, then those on which they part."""
    apart = [pairing for pairing in pairings if not pairing.agrees]
    head = f"{first} against {second} on the same {len(pairings)} solutions: {len(apart)} differ\n"
    if not apart:
        return head
    titles = ["task", "solution", first, second, f"{first} over eager", f"{second} over eager", "why"]
    lines = [
        [
            pairing.place,
            pairing.solution,
            *(_describe_opinion(each) for each in (pairing.first, pairing.second)),
            *(_tell(each.over_eager, "-") for each in (pairing.first, pairing.second)),
            (pairing.first.reason or pairing.second.reason)[:160],
        ]
        for pairing in apart
    ]
    return head + "\n" + render_markdown(titles, lines)


def _describe_opinion(opinion: Opinion) -> str:
    beaten = [
        name for name, is_so in (("eager", opinion.beats_eager), ("compile", opinion.beats_compiled)) if is_so
    ]
    return f"{opinion.verdict}, beats {' and '.join(beaten)}" if beaten else opinion.verdict


def render_comparison(found: Comparison) -> str:
    """A comparison in Markdown: the score, then each task that is no tie, then what was not compared."""
    wins, losses, ties = (found.count(each) for each in (Verdict.WIN, Verdict.LOSS, Verdict.TIE))
    ratio = (
        "no task is right in both"
        if found.ratio is None
        else (f"where both are right (n = {found.both_right}) A's speed-up is {found.ratio:.3f} times B's")
    )
    head = f"A wins {wins}, loses {losses}, ties {ties} (sign test p = {found.p_value:.3g}); {ratio}\n\n"
    lines = [
        [
            duel.place,
            duel.verdict.value,
            _tell(duel.a_speedup, duel.a_status),
            _tell(duel.b_speedup, duel.b_status),
        ]
        for duel in found.duels
        if duel.verdict is not Verdict.TIE
    ]
    left = [
        f"only in {who}: {', '.join(places)}\n"
        for who, places in (("A", found.only_a), ("B", found.only_b))
        if places
    ]
    return head + render_markdown(["task", "A", "A over eager", "B over eager"], lines) + "".join(left)


def render_markdown(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table; what others wrote cannot break out of its cell."""
    rows = [titles, ["---"] * len(titles), *lines]
    return "".join("| " + " | ".join(map(_escape, row)) + " |\n" for row in rows)


def _escape(cell: str) -> str:
    return make_printable(cell).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _tell(speedup: float | None, status: str) -> str:
    return status if speedup is None else f"{speedup:.2f}x"


def _format_rate(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f} ({100 * estimate.low:.0f} to {100 * estimate.high:.0f})"


def _format_speedup(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate.value:.2f}x (n = {estimate.n})"
