"""`cuda-agent synth share FILE RUN`: what a policy made of a data set's tasks, written into its card."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cuda_agent.atomic import write_whole
from cuda_agent.bench.estimate import Estimate, estimate_share
from cuda_agent.bench.load import load_records
from cuda_agent.bench.metrics import Baseline, Rule, beats, choose_best
from cuda_agent.bench.record import BenchRecord
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable
from cuda_agent.synthesis.card import CARD, SHARES, add_shares
from cuda_agent.tasks.dataset import Row, read_dataset


def share_dataset(file: Path, run: Path) -> int:
    """Count what a run over tasks of the file came to, and write it into the card beside the file.

    Raises:
        UserError: file or run cannot be read, or the run has tasks that are not in the file.
    """
    rows = {_name_key(row): row for row in read_dataset(file)}
    records = choose_best(load_records(run))
    strangers = [record.task_id for record in records if _read_key(record) not in rows]
    if strangers:
        raise UserError(f"{run} has tasks that {file} has not, such as {make_printable(strangers[0])}")
    line = _write_line(records, [rows[_read_key(record)] for record in records])
    card = file.with_name(CARD)
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    write_whole(card, add_shares(text, (line,)))
    print(f"{SHARES.strip()}\n{line}\nwritten into {card}")
    return ExitCode.DONE


def _write_line(records: Sequence[BenchRecord], rows: Sequence[Row]) -> str:
    first = records[0]
    splits = ", ".join(
        f"{count} {split}" for split, count in Counter(row.split for row in rows).most_common()
    )
    eager = [beats(record, Baseline.EAGER, rule=Rule.LOWER_BOUND) for record in records]
    compiled = [beats(record, Baseline.COMPILED, rule=Rule.LOWER_BOUND) for record in records]
    shares = (
        [record.is_correct for record in records],
        eager,
        [all(both) for both in zip(eager, compiled, strict=True)],
    )
    judge = next((record.judge for record in records if record.judge), "nothing judged")
    device = next((record.device for record in records if record.device), str(first.target))
    cells = [first.policy, device, judge, splits, *(_write_share(share) for share in shares)]
    return f"| {' | '.join(make_printable(cell).replace('|', '/') for cell in cells)} |"


def _write_share(hits: Sequence[bool]) -> str:
    found: Estimate = estimate_share(sum(hits), len(hits))
    return f"{found.value:.0%} ({found.low:.0%} to {found.high:.0%})"


def _name_key(row: Row) -> str:
    return hashlib.sha256(row.code.encode(errors="surrogatepass")).hexdigest()[:8]


def _read_key(record: BenchRecord) -> str:
    return record.task_id.rpartition("-")[2]
