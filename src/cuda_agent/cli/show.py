"""Show what happened in a run's episodes, turn by turn: what was said, changed, seen and submitted.

Exit status: 0 shown; 2 wrong use: there is no such run, or no such episode in it.
"""

import glob
from collections.abc import Iterator
from pathlib import Path

import tyro
from pydantic import PositiveInt
from rich.text import Text

from cuda_agent.agent.record import LIVE, TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.transcript import SHOWN_LINES, Line, render_trajectory, render_unfinished
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.rundir import read_records, read_saved_config


class ShowConfig(Config):
    """What to show."""

    run: tyro.conf.Positional[Path]
    """The run's folder."""
    task: str = ""
    """Only tasks whose id begins so."""
    episode: PositiveInt | None = None
    """Only this one of a task's episodes, from 1."""
    full: bool = False
    """Show long texts whole."""


def run_show(config: ShowConfig) -> int:
    """Print each chosen episode."""
    console = build_console()
    for line in _render(config, shown_lines=None if config.full else SHOWN_LINES):
        console.print(Text(line.text, style=line.style.value), soft_wrap=True)
    return ExitCode.DONE


def _render(config: ShowConfig, *, shown_lines: int | None) -> Iterator[Line]:
    read_saved_config(config.run)
    unfinished = list(_find_unfinished(config))
    for trajectory in _choose(config, may_be_none=bool(unfinished)):
        yield from render_trajectory(trajectory, shown_lines=shown_lines)
    for path in unfinished:
        yield from render_unfinished(path.stem, read_records(path, Turn), shown_lines=shown_lines)


def _find_unfinished(config: ShowConfig) -> Iterator[Path]:
    for path in sorted((config.run / LIVE).glob(f"{glob.escape(config.task)}*.jsonl")):
        if config.episode is None or path.stem.endswith(f"-{config.episode - 1}"):
            yield path


def _choose(config: ShowConfig, *, may_be_none: bool) -> Iterator[Trajectory]:
    found = read_records(config.run / TRAJECTORIES, Trajectory)
    chosen = [
        each
        for each in found
        if each.task_id.startswith(config.task) and config.episode in (None, each.episode + 1)
    ]
    if not chosen and not may_be_none:
        known = ", ".join(sorted({f"{each.task_id} ({each.episode + 1})" for each in found})[:20])
        raise UserError(f"{config.run} holds no such finished episode; finished are: {known or 'none'}")
    yield from sorted(chosen, key=lambda each: (each.task_id, each.episode))
