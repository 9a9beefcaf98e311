"""Value pretraining on verl: our loss on any number of processes, and checkpoints go both ways."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_agent.rl.batch import build_batch
from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.losses import compute_value_loss
from cuda_agent.rl.scale import Layout, SupervisedSettings
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows
from cuda_agent.rl.verl_adapter.value import METRICS, ValueStage, order_batches
from tests.rl.verl_adapter.tiny import write_tiny_critic
from tests.rl.verl_adapter.training import make_sequences, run_ranks

MODULE = "cuda_agent.rl.verl_adapter.value"


def make_stage(folder: Path, *, out: str, critic: str = "critic") -> ValueStage:
    return ValueStage(
        critic=str(folder / critic),
        train=folder / "tokens.parquet",
        out=folder / out,
        settings=SupervisedSettings(batch=4, epochs=2, lr=1e-3),
        layout=Layout(tokens_per_gpu=64),
        packed=False,
        dtype="float32",
    )


def test_every_epoch_has_every_trajectory_once(tmp_path: Path) -> None:
    batches = order_batches(8, make_stage(tmp_path, out="out"))
    assert [len(batch) for batch in batches] == [4, 4, 4, 4]
    assert sorted(batches[0] + batches[1]) == sorted(batches[2] + batches[3]) == list(range(8))
    assert batches[:2] != batches[2:]


def test_too_few_trajectories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has 3 trajectories, fewer than a batch of 4"):
        order_batches(3, make_stage(tmp_path, out="out"))


def compute_local_loss(critic: Any, sequences: list[Any]) -> float:  # noqa: ANN401
    """The local trainer's loss of a batch: the same formulas on padded tensors."""
    batch = build_batch(sequences)
    with torch.no_grad():
        outputs_BT1 = critic(input_ids=batch.ids_BT, attention_mask=batch.is_token_BT.long()).logits
        values_BT = torch.nn.functional.pad(outputs_BT1[:, :-1, 0], (1, 0))
    _, targets_BT = compute_gae(batch.rewards_BT, values_BT, is_generated_BT=batch.is_generated_BT)
    return compute_value_loss(values_BT, targets_BT, is_generated_BT=batch.is_generated_BT).item()


@pytest.mark.verl
@pytest.mark.slow
@pytest.mark.timeout(1800)  # each process imports verl, and there are five of them
def test_one_and_two_processes_and_the_local_formulas_agree(tmp_path: Path) -> None:
    import transformers

    loader: Any = transformers.AutoModelForTokenClassification

    critic = loader.from_pretrained(write_tiny_critic(tmp_path)).eval()
    sequences = make_sequences(8, vocabulary=critic.config.vocab_size)
    write_token_rows(tmp_path / "tokens.parquet", sequences)
    losses = {}
    for ranks in (1, 2):
        stage = make_stage(tmp_path, out=f"out{ranks}")
        (tmp_path / "stage.json").write_text(stage.model_dump_json())
        run_ranks(MODULE, [str(tmp_path / "stage.json")], ranks=ranks, port=29540 + ranks)
        lines = (stage.out / METRICS).read_text().splitlines()
        losses[ranks] = [json.loads(line)["critic/vf_loss"] for line in lines]
    assert losses[1][0] == pytest.approx(losses[2][0], abs=1e-5)
    assert losses[1] == pytest.approx(losses[2], rel=1e-3)  # Adam makes more of rounding with each step
    assert len(losses[1]) == 4
    first = [sequences[number] for number in order_batches(8, make_stage(tmp_path, out="out"))[0]]
    assert losses[1][0] == pytest.approx(compute_local_loss(critic, first), rel=1e-4)
    saved = tmp_path / "out2" / "checkpoint" / "huggingface"
    trained = loader.from_pretrained(saved).eval()
    assert trained.config.num_labels == 1
    assert compute_local_loss(trained, first) < 0.9 * losses[1][0]
    # And back: what the local trainer would save is where the next stage goes on from.
    trained.save_pretrained(tmp_path / "local")
    critic_tokenizer = tmp_path / "critic"
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "local" / name).write_text((critic_tokenizer / name).read_text())
    stage = make_stage(tmp_path, out="out3", critic="local")
    (tmp_path / "stage.json").write_text(stage.model_dump_json())
    run_ranks(MODULE, [str(tmp_path / "stage.json")], ranks=1, port=29543)
    resumed = json.loads((stage.out / METRICS).read_text().splitlines()[0])["critic/vf_loss"]
    assert resumed == pytest.approx(compute_local_loss(trained, first), rel=1e-4)
