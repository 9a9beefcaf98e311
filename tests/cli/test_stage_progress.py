"""Whoever waits for an evaluation sees where it is."""

import contextlib
import io

import pytest
from rich.console import Console

from cuda_agent.cli.stage_progress import StageProgress
from cuda_agent.environment.result import Stage

STAGES = (Stage.RULES, Stage.BUILD, Stage.PROFILE)


def show(*, terminal: bool, quiet: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=80, color_system=None, quiet=quiet)
    with StageProgress(console) as progress:
        for stage in STAGES:
            progress.begin(stage)
    return out.getvalue()


def test_elsewhere_each_stage_is_a_line_with_the_seconds_so_far() -> None:
    lines = show(terminal=False).splitlines()
    assert [line.split(" s  ")[1] for line in lines] == [
        "checking the rules",
        "building",
        "comparing with the reference, then timing",
        "done",
    ]
    assert [float(line.split(" s  ")[0]) for line in lines] == pytest.approx([0.0] * 4, abs=5.0)


def test_on_a_terminal_one_line_lives_and_goes() -> None:
    out = show(terminal=True)
    assert "then timing" in out
    assert "0:00:0" in out
    assert out.endswith(" s  done\n")


def test_quiet_is_quiet() -> None:
    assert show(terminal=True, quiet=True) == show(terminal=False, quiet=True) == ""


def test_a_failure_is_not_done() -> None:
    out = io.StringIO()
    with contextlib.suppress(KeyboardInterrupt), StageProgress(Console(file=out)) as progress:
        progress.begin(Stage.BUILD)
        raise KeyboardInterrupt
    assert out.getvalue().endswith("building\n")
