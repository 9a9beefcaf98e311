"""Tables keep every record, and what others wrote stays in its cell."""

import csv
import io
from pathlib import Path

from pyarrow import parquet

from cuda_agent.bench.compare import compare
from cuda_agent.bench.published import load_published
from cuda_agent.bench.record import RecordStatus
from cuda_agent.bench.summary import summarise
from cuda_agent.bench.tables import (
    render_comparison,
    render_csv,
    render_summary,
    render_tasks,
    write_parquet,
)
from tests.bench.conftest import BuildRecord


def test_parquet_and_csv_hold_every_try(build: BuildRecord, tmp_path: Path) -> None:
    records = [build("a-0", 2.0, floor_ms=0.25), build("b-0", status=RecordStatus.UNTIMED, reason="it, too")]
    write_parquet(tmp_path / "x.parquet", records)
    rows = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [(row["status"], row["over_eager"], row["share_of_floor"]) for row in rows] == [
        ("correct", 2.0, 0.25),
        ("untimed", None, None),
    ]
    assert (rows[0]["over_compile_low"], rows[0]["over_compile_high"]) == (2.0 * 0.99, 2.0 * 1.01)
    lines = list(csv.DictReader(io.StringIO(render_csv(records))))
    assert [(line["task_id"], line["over_eager"], line["reason"]) for line in lines] == [
        ("a-0", "2.0", ""),
        ("b-0", "", "it, too"),
    ]


def test_the_published_rows_of_the_same_levels_stand_below(build: BuildRecord) -> None:
    rows = summarise([build("a-0", 2.0, level=1), build("b-0", level=1)])
    text = render_summary(rows, "expert", published=load_published())
    assert "| geomean over eager, correct | geomean over compile, correct | geomean over eager, all |" in text
    assert "| expert, judge strict | level 1 | 2 | 50.0 (9 to 91) | 50.0" in text
    assert "| CUDA Agent (claimed) | level 1 | 100 | 100 | 99 | 97 | 2.48x | 1.87x | - | - |" in text
    assert "level 3" not in text
    assert "flawed or hacked" in text


def test_nothing_breaks_out_of_its_cell(build: BuildRecord) -> None:
    text = render_tasks([build("a-0", reason="x | <b>\n| y")])
    assert text.count("\n") == 3
    assert "x \\| &lt;b>" in text


def test_a_comparison_names_what_is_no_tie(build: BuildRecord) -> None:
    a = [build("a-0", 2.0), build("b-0", 1.0), build("c-0", 1.0)]
    text = render_comparison(compare(a, [build("a-0"), build("b-0", 1.0)]))
    assert text.startswith("A wins 1, loses 0, ties 1 (sign test p = 1)")
    assert "| a-0 | win | 2.00x | failed |" in text
    assert "| b-0" not in text
    assert "only in A: c-0" in text
