"""Value pretraining on verl: the local trainer's steps on 1 and 2 processes; checkpoints both ways."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cuda_agent.errors import ConfigError
from cuda_agent.llm.local_config import Precision
from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.checkpoint import find_network, save_checkpoint
from cuda_agent.rl.config import OptimiserConfig
from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.losses import compute_value_loss
from cuda_agent.rl.policy import compute_values, load_critic, save_network
from cuda_agent.rl.scale import Layout, SupervisedSettings
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows
from cuda_agent.rl.verl_adapter.value import METRICS, Order, ValueStage, build_rewards
from tests.rl.verl_adapter.tiny import write_tiny_critic, write_tiny_policy
from tests.rl.verl_adapter.training import make_sequences, run_ranks

CPU = torch.device("cpu")
LR = 1e-3


def make_stage(folder: Path, *, out: str = "out", critic: Path | None = None, epochs: int = 2) -> ValueStage:
    return ValueStage(
        critic=str(critic or folder / "critic"),
        tokenizer=str(folder / "policy"),
        train=folder / "tokens.parquet",
        out=folder / out,
        settings=SupervisedSettings(batch=4, epochs=epochs, lr=LR),
        layout=Layout(tokens_per_gpu=64, packed=False, precision=Precision.FLOAT32),
    )


def test_every_epoch_has_every_trajectory_once(tmp_path: Path) -> None:
    batches = Order(8, make_stage(tmp_path)).batches
    assert [len(batch) for batch in batches] == [4, 4, 4, 4]
    assert sorted(batches[0] + batches[1]) == sorted(batches[2] + batches[3]) == list(range(8))
    assert batches[:2] != batches[2:]


def test_more_epochs_go_on_in_the_same_order(tmp_path: Path) -> None:
    longer = Order(8, make_stage(tmp_path, epochs=3))
    shorter = Order(8, make_stage(tmp_path))
    assert longer.batches[:4] == shorter.batches
    longer.load_state_dict(shorter.state_dict())


def test_too_few_trajectories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there are 3 trajectories, fewer than a batch of 4"):
        Order(3, make_stage(tmp_path))


def test_a_checkpoint_of_another_order_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="another order of trajectories: count was 8 and is 9"):
        Order(9, make_stage(tmp_path)).load_state_dict(Order(8, make_stage(tmp_path)).state_dict())


def test_the_reward_is_the_last_generated_tokens() -> None:
    sequence = TokenSequence((7, 8, 9, 6), (False, True, True, False), (0.0, -1.0, -2.0, 0.0), 3.0)
    assert build_rewards(sequence).tolist() == [0.0, 0.0, 3.0, 0.0]


def learn_locally(learner: Learner, sequences: Sequence[TokenSequence]) -> float:
    """A step of the local trainer; the loss before it."""
    batch = build_batch(sequences)

    def compute() -> Iterator[Tensor]:
        values_BT = compute_values(learner.model, batch)
        _, targets_BT = compute_gae(
            batch.rewards_BT, values_BT.detach(), is_generated_BT=batch.is_generated_BT
        )
        yield compute_value_loss(values_BT, targets_BT, is_generated_BT=batch.is_generated_BT)

    return learner.learn(compute(), step=0)["loss"]


def train(stage: ValueStage, *, ranks: int) -> list[float]:
    """Run the stage; the losses of all its steps."""
    place = stage.out.with_suffix(".json")
    place.write_text(stage.model_dump_json())
    run_ranks("cuda_agent.rl.verl_adapter.value", [str(place)], ranks=ranks)
    lines = [json.loads(line) for line in (stage.out / METRICS).read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    return [line["critic/vf_loss"] for line in lines]


@pytest.mark.verl
@pytest.mark.slow
@pytest.mark.timeout(1800)  # each process imports verl, and there are six of them
def test_one_and_two_processes_and_the_local_trainer_agree(tmp_path: Path) -> None:
    write_tiny_policy(tmp_path)
    critic = load_critic(str(write_tiny_critic(tmp_path)), device=CPU)
    sequences = make_sequences(8, vocabulary=critic.config.vocab_size)
    write_token_rows(tmp_path / "tokens.parquet", sequences)
    learner = Learner(critic, OptimiserConfig(learning_rate=LR))
    batches = [[sequences[row] for row in rows] for rows in Order(8, make_stage(tmp_path)).batches]
    local = [learn_locally(learner, batch) for batch in batches]

    alone = train(make_stage(tmp_path, out="one"), ranks=1)
    assert alone == pytest.approx(local, abs=1e-5)
    # Two processes, stopped after the first epoch and started again.
    first = train(make_stage(tmp_path, out="two", epochs=1), ranks=2)
    both = train(make_stage(tmp_path, out="two"), ranks=2)
    assert both[:2] == first
    print(f"losses: {alone} on one process, {both} on two, {local} by the local trainer")
    assert both == pytest.approx(alone, abs=1e-5)

    trained = load_critic(str(tmp_path / "two" / "global_step_4" / "huggingface"), device=CPU)
    for name, weight in trained.state_dict().items():
        torch.testing.assert_close(weight, critic.state_dict()[name], atol=1e-4, rtol=0, msg=name)
    # And back: the local trainer goes on from verl's checkpoint, saves its own, and verl goes on from that.
    learner = Learner(trained, OptimiserConfig(learning_rate=LR))
    learn_locally(learner, batches[0])
    run = tmp_path / "run"
    writers = {"critic": lambda folder: save_network(trained, folder)}
    save_checkpoint(run, 1, writers=writers, learners={"critic": learner}, keep=1)
    again = make_stage(tmp_path, out="again", critic=find_network(run, "critic"), epochs=1)
    assert train(again, ranks=1)[0] == pytest.approx(learn_locally(learner, batches[0]), abs=1e-5)
