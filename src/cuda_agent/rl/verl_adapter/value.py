"""Value pretraining on verl's TrainingWorker: the critic learns V + A from sampled trajectories.

    torchrun --nproc-per-node N -m cuda_agent.rl.verl_adapter.value STAGE.json

verl has a script for supervised training and for PPO, and none for this. Targets follow from the critic's
current values in every step, by the same masked GAE as everywhere.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from cuda_agent.config import Config
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.scale import Layout, SupervisedSettings
from cuda_agent.rl.verl_adapter.dataset import TrajectoryTokens, build_row
from cuda_agent.rl.verl_adapter.processes import join_processes
from cuda_agent.rl.verl_adapter.version import check_verl

METRICS = "metrics.jsonl"


class ValueStage(Config):
    """One value pretraining."""

    critic: str
    """Folder of a token classifier with one label, of transformers'."""
    train: Path
    """File of `write_token_rows`."""
    out: Path
    """Where checkpoints and metrics are written."""
    settings: SupervisedSettings
    """Batch, epochs, learning rate."""
    layout: Layout
    """How the critic lies on the GPUs."""
    gamma: float = 1.0
    """Discount."""
    gae_lambda: float = 0.95
    """Decay of advantages over generated tokens."""
    packed: bool = True
    """Put sequences end to end, which needs flash attention; otherwise pad them."""
    dtype: str = "bfloat16"
    """What matrix products are computed in; weights are float32."""
    seed: int = 0
    """Of the trajectories' order."""


def train_value(stage: ValueStage) -> None:
    """Train the critic, as one of the processes that torchrun started, and save it."""
    check_verl()
    with join_processes():
        worker = build_worker(stage)
        sequences = TrajectoryTokens(str(stage.train)).sequences
        rank, groups = worker.engine.get_data_parallel_rank(), worker.engine.get_data_parallel_size()
        batches = order_batches(len(sequences), stage)
        stage.out.mkdir(parents=True, exist_ok=True)
        for step, chosen in enumerate(batches, start=1):
            mine = [sequences[number] for number in chosen[rank::groups]]
            metrics = train_step(worker, mine, stage=stage)
            if torch.distributed.get_rank() == 0:
                with (stage.out / METRICS).open("a") as file:
                    file.write(json.dumps({"step": step, **metrics}) + "\n")
                print(f"step {step} of {len(batches)}: {metrics}", flush=True)
        worker.save_checkpoint(local_path=str(stage.out / "checkpoint"), global_step=len(batches))


def order_batches(count: int, stage: ValueStage) -> list[list[int]]:
    """The trajectories of each step, shuffled anew each epoch; the last, short batch of one is left out.

    Raises:
        ValueError: there are fewer trajectories than a batch has.
    """
    batch = stage.settings.batch
    if count < batch:
        raise ValueError(f"{stage.train} has {count} trajectories, fewer than a batch of {batch}")
    generator = torch.Generator().manual_seed(stage.seed)
    orders = [torch.randperm(count, generator=generator).tolist() for _ in range(stage.settings.epochs)]
    return [order[at : at + batch] for order in orders for at in range(0, count - batch + 1, batch)]


def train_step(worker: Any, sequences: Sequence[TokenSequence], *, stage: ValueStage) -> dict[str, float]:  # noqa: ANN401
    """One update on this process's share of a batch; the whole batch's loss and gradient norm."""
    from verl.utils import tensordict_utils
    from verl.utils.dataset.dataset_utils import DatasetPadMode, SFTTensorCollator

    rows = [build_row(sequence) | build_targets(sequence, stage) for sequence in sequences]
    data = tensordict_utils.get_tensordict(
        tensor_dict=SFTTensorCollator(DatasetPadMode.NO_PADDING)(rows),
        non_tensor_dict={
            "use_remove_padding": stage.packed,
            "use_dynamic_bsz": True,
            "max_token_len_per_gpu": stage.layout.tokens_per_gpu,
            "micro_batch_size_per_gpu": 1,
            "temperature": 1.0,
            "global_batch_size": stage.settings.batch,
            "pad_mode": DatasetPadMode.NO_PADDING,
            "update_lr_scheduler": True,
        },
    )
    metrics = tensordict_utils.get(worker.train_batch(data=data), "metrics")
    return {
        "critic/vf_loss": metrics["loss"],
        "critic/grad_norm": metrics["grad_norm"],
        "critic/lr": metrics["lr"],
    }


def build_targets(sequence: TokenSequence, stage: ValueStage) -> dict[str, Tensor]:
    """What the loss needs of a trajectory, each (T,): its rewards, and each token's weight in the batch."""
    is_generated = torch.tensor(sequence.is_generated)
    rewards = torch.zeros(len(sequence.ids))
    rewards[is_generated.nonzero()[-1]] = sequence.reward
    return {"rewards": rewards, "weights": is_generated / (is_generated.sum() * stage.settings.batch)}


class ValueLoss:
    """Half the mean over trajectories of each one's mean of (V - V_target)^2, as verl calls a loss."""

    def __init__(self, stage: ValueStage) -> None:
        self._stage = stage

    def __call__(self, model_output: dict[str, Tensor], data: Any, **_options: Any) -> tuple[Tensor, Any]:  # noqa: ANN401
        """This process's part of the loss, times their number: verl takes the mean over processes."""
        # The network reads token t - 1 last when it speaks of the state before token t.
        values_BT = pad_sequence(
            [pad(row[:-1].float(), (1, 0)) for row in model_output["values"].unbind()], batch_first=True
        )
        rewards_BT, weights_BT, mask_BT = (
            pad_sequence(list(data[name].unbind()), batch_first=True)
            for name in ("rewards", "weights", "loss_mask")
        )
        _, targets_BT = compute_gae(
            rewards_BT.cpu(),
            values_BT.detach().cpu(),
            is_generated_BT=mask_BT.cpu().bool(),
            gamma=self._stage.gamma,
            gae_lambda=self._stage.gae_lambda,
        )
        errors_BT = (values_BT - targets_BT.to(values_BT.device)).square()
        return 0.5 * (weights_BT * errors_BT).sum() * data["dp_size"], {}


def build_worker(stage: ValueStage) -> Any:  # noqa: ANN401
    """A worker of verl's with the critic, its optimiser and the loss, ready to train."""
    from verl.trainer.config import CheckpointConfig
    from verl.workers.config import FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig, TrainingWorkerConfig
    from verl.workers.engine_workers import TrainingWorker

    layout = stage.layout
    attention = "flash_attention_2" if stage.packed else "sdpa"
    model = HFModelConfig(
        path=stage.critic,
        use_remove_padding=stage.packed,
        enable_gradient_checkpointing=True,
        override_config={"attn_implementation": attention},
    )
    contents = ["model", "optimizer", "extra"]
    worker = TrainingWorker(
        TrainingWorkerConfig(
            model_type="value_model",
            model_config=model,
            engine_config=FSDPEngineConfig(
                strategy="fsdp2",
                ulysses_sequence_parallel_size=layout.sequence_parallel,
                param_offload=layout.offload,
                optimizer_offload=layout.offload,
                dtype=stage.dtype,
                use_dynamic_bsz=True,
                max_token_len_per_gpu=layout.tokens_per_gpu,
            ),
            optimizer_config=FSDPOptimizerConfig(lr=stage.settings.lr, lr_warmup_steps_ratio=0.0),
            checkpoint_config=CheckpointConfig(save_contents=[*contents, "hf_model"], load_contents=contents),
        )
    )
    # The engine for critics is chosen by now. Its loader would insist on flash attention; by its
    # architecture the checkpoint is loaded as the token classifier that it is, with `attention`.
    worker.model_config.model_type = "language_model"
    worker.set_loss_fn(ValueLoss(stage))
    worker.reset()
    return worker


if __name__ == "__main__":
    train_value(ValueStage.model_validate_json(Path(sys.argv[1]).read_text()))
