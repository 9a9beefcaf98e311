"""The command keeps its rows as they come, goes on where it was ended, and writes one table."""

from pathlib import Path

import pytest
from pyarrow import parquet

from cuda_agent.bench.baselines import BASELINES
from cuda_agent.cli.bench_baselines import TABLE, time_suite
from cuda_agent.cli.bench_config import BenchConfig
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.tasks.target import Target

SUITE = Path(__file__).parents[1] / "suite"


def test_a_table_goes_on_where_it_was_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    modes = (CompileMode.DEFAULT, CompileMode.MAX_AUTOTUNE, CompileMode.DEFAULT)
    flags = BenchConfig(target=Target.CPU, only=("level2/2_all_ones",), modes=modes)
    config = flags.build_baselines(flags.load_suite(str(SUITE)))
    assert time_suite(config, out=tmp_path / "run", resume=None) == 1
    kept = (tmp_path / "run" / BASELINES).read_bytes().splitlines(keepends=True)
    assert len(kept) == 2
    (tmp_path / "run" / BASELINES).write_bytes(kept[1] + kept[0][:40])  # killed while it wrote
    assert time_suite(config, out=None, resume=tmp_path / "run") == 1
    assert "2 rows, 1 of them new" in capsys.readouterr().out
    rows = parquet.read_table(tmp_path / "run" / TABLE).to_pylist()
    assert [(row["place"], row["mode"], row["status"]) for row in rows] == [
        ("level2/2_all_ones", "default", "refused"),
        ("level2/2_all_ones", "max-autotune", "refused"),
    ]
