"""Rejection fine-tuning on verl's supervised trainer.

    torchrun --nproc-per-node N -m cuda_agent.rl.verl_adapter.rft SETTING ...

The settings are those of `build_rft_overrides`; `TrajectoryTokens` gives the trainer the sampled tokens.
"""

import sys
from collections.abc import Sequence

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
    with join_processes():
        trainer = SFTTrainer(config=config)
        # verl's own loss is a mean over all tokens; ours is the paper's and the local trainer's.
        trainer.training_client.set_loss_fn(RftLoss(batch=config.data.train_batch_size))
        trainer.fit()


if __name__ == "__main__":
    train_rft(sys.argv[1:])
