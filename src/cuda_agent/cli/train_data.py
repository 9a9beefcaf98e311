"""What training learns from: trajectories on disk."""

from collections.abc import Sequence
from pathlib import Path

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.errors import UserError
from cuda_agent.rundir import read_records


def load_trajectories(places: Sequence[Path]) -> list[Trajectory]:
    """All episodes of runs, or of files in their form; of a training run those that it sampled.

    Raises:
        UserError: a place has none, or a line is damaged.
    """
    if not places:
        raise UserError("no episodes given; give the folder of a run, such as runs/2026-11-30-run-1a2b3c")
    return [trajectory for place in places for trajectory in _load(place)]


def _load(place: Path) -> list[Trajectory]:
    if place.is_file():
        files = [place]
    else:
        files = sorted([*place.glob(TRAJECTORIES), *place.glob(f"rollouts/*/{TRAJECTORIES}")])
    found = [trajectory for file in files for trajectory in read_records(file, Trajectory)]
    if not found:
        raise UserError(f"{place} holds no episodes (no {TRAJECTORIES}); give the folder of a run, or a file")
    return found
