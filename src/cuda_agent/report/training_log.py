"""What training writes down: figures, one object a step under verl's names, and samples of episodes."""

import json
import math
from pathlib import Path
from typing import Any

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.report.material import Training

STEP_NAMES = ("step", "training/global_step", "global_step")
"""What the number of a step may be called."""
FIGURES = "metrics"
"""Where a step's figures may lie together; their names are told without it."""


class Sample(Record):
    """An episode that a step of training met."""

    step: int
    """Which."""
    trajectory: Trajectory
    """What happened in it."""


def is_training_log(path: Path) -> bool:
    """Whether a file's first line is a step with at least one figure."""
    if path.suffix != ".jsonl":
        return False
    with open(path, "rb") as file:
        line = file.readline(1 << 20)
    try:
        first = json.loads(line)
    except ValueError:
        return False
    if not isinstance(first, dict) or "trajectory" in first:
        return False
    return _find_step(first) is not None and len(_read_figures(first)) > 1


def load_training(path: Path, name: str) -> Training:
    """The steps of a log, without a torn last line; figures that are not finite are left out of their step.

    Nested objects are joined with a slash: `{"actor": {"entropy": 1}}` is `actor/entropy`, and so is
    `{"metrics": {"actor/entropy": 1}}`.

    Raises:
        UserError: a whole line is no step; names file and line.
    """
    steps, stages = [], []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        step = _find_step(entry) if isinstance(entry, dict) else None
        if step is None:
            raise UserError(
                f"{path}, line {number}: not a step of training; it was damaged or is another file"
            )
        figures = _read_figures(entry)
        steps.append(
            {**{key: value for key, value in figures.items() if key not in STEP_NAMES}, "step": step}
        )
        stages.append(str(entry.get("stage", "")))
    return Training(run=name, steps=tuple(steps), stages=tuple(stages))


def _find_step(entry: dict[str, Any]) -> float | None:
    found = next((entry[name] for name in STEP_NAMES if name in entry), None)
    return float(found) if isinstance(found, int | float) else None


def _read_figures(entry: dict[str, Any], prefix: str = "") -> dict[str, float]:
    figures: dict[str, float] = {}
    for key, value in entry.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            figures |= _read_figures(value, "" if name == FIGURES else f"{name}/")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            figures[name] = float(value)
    return figures
