"""Checkpoints that are whole or not there: networks, optimisers, random numbers and the step, exactly.

    checkpoints/step-000120/
        actor/       a folder of transformers'
        critic/      likewise, where there is one
        state.pt     step, optimisers, states of the random numbers

A checkpoint is written under another name and renamed when the disk has all of it, and older ones go only
then: being killed at any moment costs what came after the last whole one.
"""

import pickle
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from cuda_agent.atomic import write_aside
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.rl.learner import Learner

FOLDER = "checkpoints"
STATE = "state.pt"
NAME = re.compile(r"step-(\d{6,})")
UNFINISHED = ".step-*"


def save_checkpoint(
    run: Path,
    step: int,
    *,
    writers: Mapping[str, Callable[[Path], None]],
    learners: Mapping[str, Learner],
    keep: int,
) -> Path:
    """Write what is there after `step` steps, then remove all but the newest `keep` checkpoints.

    `writers` write the networks, each into its folder. Gives the checkpoint's folder.

    Raises:
        InfrastructureError: the disk refuses; what was saved before is still there.
    """
    folder = run / FOLDER
    target = folder / f"step-{step:06d}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(UNFINISHED):
            shutil.rmtree(left)
        with write_aside(target, is_forced=True) as aside:
            aside.mkdir()
            for name, write in writers.items():
                write(aside / name)
            torch.save(_collect_state(step, learners), aside / STATE)
            if target.exists():
                shutil.rmtree(target)
        for old in _list_checkpoints(run)[:-keep]:
            shutil.rmtree(old)
    except (OSError, RuntimeError) as error:
        # torch tells of a full disk by a RuntimeError.
        raise InfrastructureError(
            f"{target} cannot be written ({error}); earlier checkpoints are whole: make room, then resume"
        ) from error
    return target


def find_checkpoint(run: Path) -> Path | None:
    """The newest whole checkpoint of a run; None when there is none."""
    return next(reversed(_list_checkpoints(run)), None)


def find_network(place: Path, name: str) -> Path:
    """The folder of a network: of a run's newest checkpoint, of a checkpoint, or the place itself.

    Raises:
        UserError: a run or checkpoint is there, without this network.
    """
    checkpoint = find_checkpoint(place) or place
    if (checkpoint / name).is_dir():
        return checkpoint / name
    if checkpoint is not place or (place / STATE).exists() or (place / FOLDER).exists():
        raise UserError(f"{place} holds no {name}; give a run or a checkpoint that has one")
    return place


def restore_checkpoint(run: Path, learners: Mapping[str, Learner]) -> int:
    """Put the newest checkpoint's weights, optimisers and random numbers back; how many steps it has had.

    0 where there is no checkpoint, and nothing is changed.

    Raises:
        UserError: the checkpoint is damaged, or of other networks.
    """
    checkpoint = find_checkpoint(run)
    if checkpoint is None:
        return 0
    try:
        state = torch.load(checkpoint / STATE, weights_only=True, map_location="cpu")
        for name, learner in learners.items():
            saved = type(learner.model).from_pretrained(checkpoint / name, dtype="float32")
            learner.model.load_state_dict(saved.state_dict())
            learner.optimiser.load_state_dict(state["optimisers"][name])
        torch.set_rng_state(state["random"]["cpu"])
        for number, one in enumerate(state["random"]["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(one, number)
    except (OSError, KeyError, ValueError, RuntimeError, pickle.UnpicklingError) as error:
        raise UserError(
            f"{checkpoint} cannot be used ({error}); remove it, and the run goes on from the one before"
        ) from error
    return int(state["step"])


def _list_checkpoints(run: Path) -> list[Path]:
    """Oldest first."""
    found = [path for path in (run / FOLDER).glob("step-*") if NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def _collect_state(step: int, learners: Mapping[str, Learner]) -> dict[str, Any]:
    random = {"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all()}
    optimisers = {name: learner.optimiser.state_dict() for name, learner in learners.items()}
    return {"step": step, "optimisers": optimisers, "random": random}
