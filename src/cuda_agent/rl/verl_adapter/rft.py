"""Rejection fine-tuning on verl's supervised trainer.

    torchrun --nproc-per-node N -m cuda_agent.rl.verl_adapter.rft SETTING ...

The settings are those of `build_rft_overrides`; `TrajectoryTokens` gives the trainer the sampled tokens.
"""

import sys
from collections.abc import Sequence

from cuda_agent.rl.verl_adapter.processes import join_processes
from cuda_agent.rl.verl_adapter.version import check_verl


def train_rft(settings: Sequence[str]) -> None:
    """Train the policy, as one of the processes that torchrun started.

    Each checkpoint is verl's own, with a folder `huggingface` that transformers reads.
    """
    check_verl()
    import hydra
    from verl.trainer.sft_trainer import SFTTrainer

    with hydra.initialize_config_module("verl.trainer.config", version_base=None):
        config = hydra.compose("sft_trainer_engine", overrides=list(settings))
    with join_processes():
        SFTTrainer(config=config).fit()


if __name__ == "__main__":
    train_rft(sys.argv[1:])
