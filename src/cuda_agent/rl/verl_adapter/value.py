"""Value pretraining on verl's TrainingWorker: the critic learns V + A from sampled trajectories.

    torchrun --nproc-per-node N -m cuda_agent.rl.verl_adapter.value STAGE.json

verl has a script for supervised training and for PPO, and none for this. Targets follow from the critic's
current values in every step, by the same masked GAE as everywhere.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cuda_agent.config import Config
from cuda_agent.errors import ConfigError
from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.scale import Layout, SupervisedSettings
from cuda_agent.rl.verl_adapter.dataset import TrajectoryTokens, build_row, count_steps
from cuda_agent.rl.verl_adapter.losses import ValueLoss
from cuda_agent.rl.verl_adapter.overrides import KEPT
from cuda_agent.rl.verl_adapter.processes import join_processes
from cuda_agent.rl.verl_adapter.version import check_verl

METRICS = "metrics.jsonl"


class ValueStage(Config):
    """One value pretraining."""

    critic: str
    """Folder of a token classifier with one label, of transformers'."""
    tokenizer: str = ""
    """Folder with the policy's tokenizer; the critic's own where none is given."""
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
    seed: int = 0
    """Of the trajectories' order."""


class Order:
    """Which trajectories each step learns from; verl's checkpoints keep what that follows from."""

    def __init__(self, count: int, stage: ValueStage) -> None:
        """Shuffle anew each epoch; the last, short batch of one is left out.

        Raises:
            ConfigError: there are fewer trajectories than a batch has.
        """
        batch = stage.settings.batch
        steps = count_steps(count, batch)
        generator = torch.Generator().manual_seed(stage.seed)
        orders = [torch.randperm(count, generator=generator).tolist() for _ in range(stage.settings.epochs)]
        self.batches = [order[step * batch : (step + 1) * batch] for order in orders for step in range(steps)]
        """The trajectories of each step."""
        self._made_from = {"count": count, "batch": batch, "seed": stage.seed}

    def state_dict(self) -> dict[str, int]:
        """What the order follows from."""
        return self._made_from

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Look that a checkpoint was made in the same order.

        Raises:
            ConfigError: it was not, so going on would show some trajectories twice and others never.
        """
        for name, value in self._made_from.items():
            if state.get(name) != value:
                raise ConfigError(
                    f"the checkpoint is of another order of trajectories: {name} was {state.get(name)} and "
                    f"is {value}; give another folder, or what it was begun with"
                )


def train_value(stage: ValueStage) -> None:
    """Train the critic, as one of the processes that torchrun started; goes on from the newest checkpoint."""
    check_verl()
    sequences = TrajectoryTokens(str(stage.train)).sequences
    order = Order(len(sequences), stage)
    with join_processes():
        from verl.utils.checkpoint import CheckpointHandler

        worker = build_worker(stage)
        handler = CheckpointHandler(
            worker.engine, order, default_local_dir=str(stage.out), max_ckpt_to_keep=KEPT
        )
        done = handler.load_checkpoint()
        rank, groups = worker.engine.get_data_parallel_rank(), worker.engine.get_data_parallel_size()
        metrics = _Metrics(stage.out / METRICS, done=done) if torch.distributed.get_rank() == 0 else None
        for step, chosen in enumerate(order.batches[done:], start=done + 1):
            mine = [sequences[number] for number in chosen[rank::groups]]
            figures = train_step(worker, mine, stage=stage)
            if metrics is not None:
                metrics.add(step, figures, steps=len(order.batches))
            if step % stage.settings.save_every == 0 or step == len(order.batches):
                handler.save_checkpoint(step)


class _Metrics:
    """Figures of each step, one JSON object a line."""

    def __init__(self, path: Path, *, done: int) -> None:
        """Keep the first `done` steps of what is there: later ones are taken again."""
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = path.read_text().splitlines(keepends=True)[:done] if done else []
        path.write_text("".join(kept))
        self._path = path

    def add(self, step: int, figures: dict[str, float], *, steps: int) -> None:
        """Write a step's figures, and show them."""
        with self._path.open("a") as file:
            file.write(json.dumps({"step": step, **figures}) + "\n")
        shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"step {step} of {steps}: {shown}", flush=True)


def train_step(worker: Any, sequences: Sequence[TokenSequence], *, stage: ValueStage) -> dict[str, float]:  # noqa: ANN401
    """One update on this process's share of a batch; the whole batch's loss and gradient norm."""
    from verl.utils import tensordict_utils
    from verl.utils.dataset.dataset_utils import DatasetPadMode, SFTTensorCollator

    rows = [build_row(sequence) | {"rewards": build_rewards(sequence)} for sequence in sequences]
    data = tensordict_utils.get_tensordict(
        tensor_dict=SFTTensorCollator(DatasetPadMode.NO_PADDING)(rows),
        non_tensor_dict={
            "use_remove_padding": stage.layout.packed,
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


def build_rewards(sequence: TokenSequence) -> Tensor:
    """The reward of each token, (T,): the judge's, at the last generated one."""
    return build_batch([sequence]).rewards_BT[0]


def build_worker(stage: ValueStage) -> Any:  # noqa: ANN401
    """A worker of verl's with the critic, its optimiser and the loss, ready to train."""
    from verl.trainer.config import CheckpointConfig
    from verl.workers.config import FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig, TrainingWorkerConfig
    from verl.workers.engine_workers import TrainingWorker

    layout = stage.layout
    attention = "flash_attention_2" if layout.packed else "sdpa"
    model = HFModelConfig(
        path=stage.critic,
        tokenizer_path=stage.tokenizer or stage.critic,
        use_remove_padding=layout.packed,
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
                mixed_precision={"param_dtype": layout.precision.value},
                use_dynamic_bsz=True,
                max_token_len_per_gpu=layout.tokens_per_gpu,
            ),
            optimizer_config=FSDPOptimizerConfig(lr=stage.settings.lr, weight_decay=0.0),
            checkpoint_config=CheckpointConfig(save_contents=[*contents, "hf_model"], load_contents=contents),
        )
    )
    # The engine for critics is chosen by now. Its loader would insist on flash attention; by its
    # architecture the checkpoint is loaded as the token classifier that it is, with `attention`.
    worker.model_config.model_type = "language_model"
    worker.set_loss_fn(ValueLoss(batch=stage.settings.batch, gamma=stage.gamma, gae_lambda=stage.gae_lambda))
    worker.reset()
    return worker


if __name__ == "__main__":
    train_value(ValueStage.model_validate_json(Path(sys.argv[1]).read_text()))
