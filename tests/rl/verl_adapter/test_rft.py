"""Rejection fine-tuning on verl: the local trainer's steps on 1 and 2 processes; checkpoints both ways."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cuda_agent.llm.local_config import Precision
from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.checkpoint import find_network, save_checkpoint
from cuda_agent.rl.config import OptimiserConfig
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.losses import compute_rft_loss
from cuda_agent.rl.policy import load_policy, score_tokens
from cuda_agent.rl.scale import ScaleConfig, load_scale
from cuda_agent.rl.verl_adapter.overrides import Places, build_rft_overrides
from cuda_agent.rl.verl_adapter.rft import begin_next_epoch
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows
from tests.rl.verl_adapter.tiny import write_tiny_policy
from tests.rl.verl_adapter.training import make_sequences, run_ranks

CPU = torch.device("cpu")
LR = 1e-3


def build_scale(*, epochs: int) -> ScaleConfig:
    """The configuration for two GPUs, made small and fit for processors."""
    config = load_scale("two_gpus")
    layout = {"tokens_per_gpu": 16384, "packed": False, "precision": Precision.FLOAT32}
    return config.replace(rft={"batch": 8, "epochs": epochs, "lr": LR}, layout=layout)


def learn_locally(learner: Learner, sequences: Sequence[TokenSequence]) -> float:
    """A step of the local trainer; the loss before it."""
    batch = build_batch(sequences)

    def compute() -> Iterator[Tensor]:
        logprobs_BT = score_tokens(learner.model, batch).logprobs_BT
        yield compute_rft_loss(logprobs_BT, is_generated_BT=batch.is_generated_BT)

    return learner.learn(compute(), step=0)["loss"]


def train(folder: Path, *, policy: Path, out: str, epochs: int, ranks: int) -> list[float]:
    """Run verl's supervised trainer with the package's settings; the losses of the steps that it took."""
    places = Places(model=str(policy), train=folder / "tokens.parquet", out=folder / out)
    settings = build_rft_overrides(build_scale(epochs=epochs), places)
    told = run_ranks("cuda_agent.rl.verl_adapter.rft", settings, ranks=ranks)
    return [float(loss) for loss in re.findall(r"train/loss:(?:np\.float64\()?([-+.\de]+)", told)]


@pytest.mark.verl
@pytest.mark.parametrize(("step", "is_kept"), [(3, True), (4, False), (6, True), (8, False)])
def test_a_spent_data_loader_is_left_out(step: int, is_kept: bool, tmp_path: Path) -> None:
    loader = tmp_path / f"global_step_{step}" / "data_0.pt"
    loader.parent.mkdir()
    loader.touch()
    (tmp_path / "latest_checkpointed_iteration.txt").write_text(str(step))
    begin_next_epoch(tmp_path, steps_per_epoch=4)
    assert loader.exists() is is_kept


@pytest.mark.verl
def test_a_first_run_has_nothing_to_leave_out(tmp_path: Path) -> None:
    begin_next_epoch(tmp_path / "new", steps_per_epoch=4)


@pytest.mark.verl
@pytest.mark.slow
@pytest.mark.timeout(1800)  # each process imports verl, and there are six of them
def test_one_and_two_processes_and_the_local_trainer_agree(tmp_path: Path) -> None:
    policy = write_tiny_policy(tmp_path)
    actor = load_policy(str(policy), device=CPU)
    sequences = make_sequences(8, vocabulary=actor.model.config.vocab_size)
    write_token_rows(tmp_path / "tokens.parquet", sequences)
    learner = Learner(actor.model, OptimiserConfig(learning_rate=LR))
    local = [learn_locally(learner, sequences) for _ in range(3)]

    alone = train(tmp_path, policy=policy, out="one", epochs=3, ranks=1)
    assert alone == pytest.approx(local, abs=1e-5)
    # Two processes, stopped after the first epoch and started again.
    both = [
        *train(tmp_path, policy=policy, out="two", epochs=1, ranks=2),
        *train(tmp_path, policy=policy, out="two", epochs=3, ranks=2),
    ]
    print(f"losses: {alone} on one process, {both} on two, {local} by the local trainer")
    assert both == pytest.approx(alone, abs=1e-5)

    trained = load_policy(str(tmp_path / "two" / "global_step_3" / "huggingface"), device=CPU)
    for name, weight in trained.model.state_dict().items():
        torch.testing.assert_close(weight, actor.model.state_dict()[name], atol=1e-4, rtol=0, msg=name)
    # And back: the local trainer goes on from verl's checkpoint, saves its own, and verl goes on from that.
    learner = Learner(trained.model, OptimiserConfig(learning_rate=LR))
    learn_locally(learner, sequences)
    run = tmp_path / "run"
    save_checkpoint(run, 1, writers={"actor": trained.save}, learners={"actor": learner}, keep=1)
    place = find_network(run, "actor")
    (again,) = train(tmp_path, policy=place, out="again", epochs=1, ranks=1)
    assert again == pytest.approx(learn_locally(learner, sequences), abs=1e-5)
