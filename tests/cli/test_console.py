"""A table in a file is as wide as it must be."""

import pytest
from rich.table import Table

from cuda_agent.cli.console import PLAIN_WIDTH, build_console


def test_without_a_terminal_lines_are_wide(capsys: pytest.CaptureFixture[str]) -> None:
    console = build_console()
    assert console.width == PLAIN_WIDTH
    table = Table("x" * 60, "y" * 60)
    console.print(table)
    assert "y" * 60 in capsys.readouterr().out
