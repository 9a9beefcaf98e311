"""Rejection fine-tuning on verl: our loss on any number of processes, and checkpoints go both ways."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.losses import Mean, compute_logprobs, compute_rft_loss
from cuda_agent.rl.scale import load_scale
from cuda_agent.rl.verl_adapter.overrides import Places, build_rft_overrides
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows
from tests.rl.verl_adapter.tiny import write_tiny_policy
from tests.rl.verl_adapter.training import make_sequences, run_ranks


def compute_local_loss(actor: Any, sequences: list[TokenSequence]) -> float:  # noqa: ANN401
    """The local trainer's loss with the mean that verl's supervised trainer takes, over tokens."""
    batch = build_batch(sequences)
    with torch.no_grad():
        logits_BTK = actor(input_ids=batch.ids_BT, attention_mask=batch.is_token_BT.long()).logits
    logprobs_BT = compute_logprobs(logits_BTK, batch.ids_BT)
    return compute_rft_loss(logprobs_BT, is_generated_BT=batch.is_generated_BT, mean=Mean.TOKEN).item()


def list_overrides(folder: Path, *, policy: Path, out: str) -> list[str]:
    """The package's own settings for two GPUs, made small and put on processors."""
    places = Places(model=str(policy), train=folder / "tokens.parquet", out=folder / out)
    config = load_scale("two_gpus")
    settings = build_rft_overrides(config.replace(rft={"batch": 8, "epochs": 3, "lr": 1e-2}), places)
    ours = {
        "model.use_remove_padding": "False",
        "+model.override_config.attn_implementation": "sdpa",
        "engine.param_offload": "False",
        "engine.optimizer_offload": "False",
        "engine.dtype": "float32",
        "trainer.device": "cpu",
        "trainer.total_epochs": "3",
        "data.num_workers": "0",
    }
    kept = [setting for setting in settings if setting.partition("=")[0] not in ours]
    return [*kept, *(f"{key}={value}" for key, value in ours.items())]


@pytest.mark.verl
@pytest.mark.slow
@pytest.mark.timeout(1800)  # each process imports verl, and there are five of them
def test_one_and_two_processes_and_the_local_formulas_agree(tmp_path: Path) -> None:
    import transformers

    loader: Any = transformers.AutoModelForCausalLM

    policy = write_tiny_policy(tmp_path)
    actor = loader.from_pretrained(policy).eval()
    sequences = make_sequences(8, vocabulary=actor.config.vocab_size)
    write_token_rows(tmp_path / "tokens.parquet", sequences)
    losses = {}
    for ranks in (1, 2):
        overrides = list_overrides(tmp_path, policy=policy, out=f"out{ranks}")
        losses[ranks] = train(overrides, ranks=ranks)
    assert len(losses[1]) == 3
    # verl tells this loss in bfloat16, whose steps are 0.03 here, whatever engine.dtype is.
    assert losses[1] == pytest.approx(losses[2], rel=5e-3)
    assert losses[1][0] == pytest.approx(compute_local_loss(actor, sequences), rel=1e-2)
    (saved,) = (tmp_path / "out2").glob("global_step_3/huggingface")
    trained = loader.from_pretrained(saved).eval()
    assert compute_local_loss(trained, sequences) < losses[1][0] - 0.1
    # And back: what the local trainer would save is where verl goes on from.
    trained.save_pretrained(tmp_path / "local")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "local" / name).write_text((policy / name).read_text())
    again = train(list_overrides(tmp_path, policy=tmp_path / "local", out="out3"), ranks=1)
    assert again[0] == pytest.approx(compute_local_loss(trained, sequences), rel=1e-2)


def train(overrides: list[str], *, ranks: int) -> list[float]:
    """Run verl's supervised trainer; the losses of its steps."""
    told = run_ranks("cuda_agent.rl.verl_adapter.rft", overrides, ranks=ranks, port=29550 + ranks)
    return [float(loss) for loss in re.findall(r"train/loss:(?:np\.float64\()?([-+.\de]+)", told)]
