"""Trajectories come back from their file exactly, and what teaches nothing never goes in."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cuda_agent.errors import UserError
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.verl_adapter.token_rows import read_token_rows, write_token_rows

ONE = TokenSequence((5, 6, 7), (False, True, True), (0.0, -0.5, -1.25), -1.0)
SILENT = TokenSequence((5, 6), (False, False), (0.0, 0.0), -1.0)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_token_rows(tmp_path / "tokens.parquet", [ONE, SILENT, ONE])
    assert read_token_rows(tmp_path / "tokens.parquet") == (ONE, ONE)


def test_nothing_to_learn_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no trajectory with a generated token is left"):
        write_token_rows(tmp_path / "tokens.parquet", [SILENT])


def test_a_place_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent/tokens.parquet cannot be written"):
        write_token_rows(tmp_path / "absent" / "tokens.parquet", [ONE])


def test_another_parquet_file_is_named(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"input_ids": [[1]]}), tmp_path / "other.parquet")
    with pytest.raises(UserError, match="has no column logprobs"):
        read_token_rows(tmp_path / "other.parquet")
