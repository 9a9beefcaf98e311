"""A checkpoint is whole or not there, whenever its writer dies."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch

from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.rl.checkpoint import find_checkpoint, find_network, restore_checkpoint, save_checkpoint
from cuda_agent.rl.config import OptimiserConfig
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.policy import save_network
from tests.rl.toy import build_policy


def build_learner(seed: int = 0) -> Learner:
    return Learner(build_policy(seed).model, OptimiserConfig(learning_rate=0.01))


def learn(learner: Learner, *, step: int = 0) -> dict[str, float]:
    return learner.learn([learner.model(input_ids=torch.tensor([[1, 2]])).logits.square().mean()], step=step)


def save(
    run: Path, learner: Learner, *, step: int, write: Callable[[Path], None] | None = None, keep: int = 2
) -> Path:
    writers = {"actor": write or partial(save_network, learner.model)}
    return save_checkpoint(run, step, writers=writers, learners={"actor": learner}, keep=keep)


def test_what_is_restored_goes_on_exactly(tmp_path: Path) -> None:
    learner = build_learner()
    learn(learner)
    save(tmp_path, learner, step=1)
    drawn = torch.rand(3)
    learn(learner)
    other = build_learner(seed=9)
    assert restore_checkpoint(tmp_path, {"actor": other}) == 1
    assert torch.equal(torch.rand(3), drawn)
    learn(other)
    for mine, its in zip(learner.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(mine, its)


def test_being_killed_while_saving_loses_nothing(tmp_path: Path) -> None:
    learner = build_learner()
    first = save(tmp_path, learner, step=1)

    def write_half(folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        save(tmp_path, learner, step=2, write=write_half)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list((tmp_path / "checkpoints").glob(".step-*/actor/model.safetensors"))
    assert find_checkpoint(tmp_path) == first
    assert restore_checkpoint(tmp_path, {"actor": build_learner(seed=9)}) == 1
    second = save(tmp_path, learner, step=2)
    assert sorted((tmp_path / "checkpoints").iterdir()) == [first, second]


def test_the_newest_are_kept(tmp_path: Path) -> None:
    learner = build_learner()
    saved = [save(tmp_path, learner, step=step, keep=2) for step in (9, 10, 100)]
    assert [path.exists() for path in saved] == [False, True, True]
    assert find_checkpoint(tmp_path) == saved[-1]


def test_a_disk_that_refuses_leaves_what_was_there(tmp_path: Path) -> None:
    learner = build_learner()
    first = save(tmp_path, learner, step=1)

    def refuse(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InfrastructureError, match="No space left"):
        save(tmp_path, learner, step=2, write=refuse)
    assert find_checkpoint(tmp_path) == first


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    learner = build_learner()
    (save(tmp_path, learner, step=1) / "state.pt").write_bytes(b"damaged")
    with pytest.raises(UserError, match="step-000001 cannot be used"):
        restore_checkpoint(tmp_path, {"actor": learner})


def test_nothing_saved_is_a_start(tmp_path: Path) -> None:
    assert restore_checkpoint(tmp_path, {"actor": build_learner()}) == 0
    assert find_checkpoint(tmp_path) is None


def test_a_network_is_found_from_its_run_its_checkpoint_or_itself(tmp_path: Path) -> None:
    saved = save(tmp_path, build_learner(), step=1)
    places = (tmp_path, saved, saved / "actor")
    assert [find_network(place, "actor") for place in places] == [saved / "actor"] * 3
    with pytest.raises(UserError, match="holds no critic"):
        find_network(tmp_path, "critic")
