"""Rejection fine-tuning on verl's supervised trainer.

    torchrun --nproc-per-node N -m cuda_agent.rl.verl_adapter.rft SETTING ...

The settings are those of `build_rft_overrides`; `TrajectoryTokens` gives the trainer the sampled tokens.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from cuda_agent.rl.verl_adapter.dataset import TrajectoryTokens, count_steps
from cuda_agent.rl.verl_adapter.losses import RftLoss
from cuda_agent.rl.verl_adapter.processes import join_processes
from cuda_agent.rl.verl_adapter.version import check_verl


def train_rft(settings: Sequence[str]) -> None:
    """Train the policy, as one of the processes that torchrun started.

    Started again, it goes on from the newest checkpoint. Each one is verl's own, with a folder `huggingface`
    that transformers reads.
    """
    check_verl()
    import hydra
    from verl.trainer.sft_trainer import SFTTrainer
    from verl.utils.device import get_device_name

    with hydra.initialize_config_module("verl.trainer.config", version_base=None):
        place = f"trainer.device={get_device_name()}"
        config = hydra.compose("sft_trainer_engine", overrides=[*settings, place])
    steps = count_steps(len(TrajectoryTokens(config.data.train_files)), config.data.train_batch_size)
    begin_next_epoch(Path(config.trainer.default_local_dir), steps_per_epoch=steps)
    with join_processes():
        trainer = SFTTrainer(config=config)
        # verl's own loss is a mean over all tokens; ours is the paper's and the local trainer's.
        trainer.training_client.set_loss_fn(RftLoss(batch=config.data.train_batch_size))
        trainer.fit()


def begin_next_epoch(out: Path, *, steps_per_epoch: int) -> None:
    """Let a run that stopped at an epoch's end go on with the next one.

    verl 0.9.1 saves a data loader that has nothing left there: it would skip an epoch, and end without a
    checkpoint. Without the saved loader it begins the epoch that follows from the step, as it should.
    """
    from verl.utils.checkpoint.checkpoint_manager import find_latest_ckpt_path

    newest = find_latest_ckpt_path(str(out))
    if newest is None or int(newest.rpartition("_")[2]) % steps_per_epoch:
        return
    for loader in Path(newest).glob("data_*.pt"):
        loader.unlink(missing_ok=True)  # each process does this before any of them loads


if __name__ == "__main__":
    train_rft(sys.argv[1:])
