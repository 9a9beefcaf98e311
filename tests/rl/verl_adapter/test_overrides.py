"""Every configuration becomes settings that verl composes, validates, and reads as they were meant."""

from pathlib import Path
from typing import Any

import pytest

from cuda_agent.rl.scale import list_presets, load_scale
from cuda_agent.rl.verl_adapter.overrides import Places, build_ppo_overrides, build_rft_overrides

PLACES = Places(model="MODEL", critic="CRITIC", train=Path("tasks.parquet"), out=Path("out"))


def compose(name: str, overrides: list[str]) -> Any:  # noqa: ANN401
    import hydra
    import verl.trainer

    folder = Path(verl.trainer.__file__).parent / "config"
    with hydra.initialize_config_dir(config_dir=str(folder), version_base=None):
        return hydra.compose(name, overrides=overrides)


def test_no_setting_is_given_twice() -> None:
    for build in (build_ppo_overrides, build_rft_overrides):
        keys = [setting.partition("=")[0] for setting in build(load_scale("paper"), PLACES)]
        assert len(keys) == len(set(keys))


@pytest.mark.verl
@pytest.mark.parametrize("name", list_presets())
def test_ppo_composes_and_validates(name: str, tmp_path: Path) -> None:
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    from tests.rl.verl_adapter.tiny import write_tiny_critic, write_tiny_policy

    config = load_scale(name)
    places = PLACES.replace(model=str(write_tiny_policy(tmp_path)), critic=str(write_tiny_critic(tmp_path)))
    composed = compose("ppo_trainer", build_ppo_overrides(config, places))
    assert need_critic(composed)
    assert not need_reference_policy(composed)
    validate_config(composed, use_reference_policy=False, use_critic=True)
    actor, critic = composed.actor_rollout_ref.actor, composed.critic
    assert (actor.optim.lr, critic.optim.lr) == (config.ppo.actor_lr, config.ppo.critic_lr)
    assert (actor.clip_ratio_low, actor.clip_ratio_high) == (0.2, 0.28)
    assert (composed.algorithm.gamma, composed.algorithm.lam) == (1.0, 0.95)
    assert composed.data.train_batch_size == config.ppo.batch
    assert composed.trainer.total_training_steps == config.ppo.steps
    longest = config.episode.prompt_tokens + config.episode.response_tokens
    assert composed.actor_rollout_ref.rollout.max_model_len == longest
    assert composed.critic.model.path == places.critic
    assert composed.actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype == "bfloat16"
    assert composed.critic.fsdp.mixed_precision.param_dtype == "bfloat16"
    assert composed.trainer.val_before_train is False  # it would hold an episode on every task for training


@pytest.mark.verl
@pytest.mark.parametrize(
    "name", ["plain/out", "a b", "it's", "a=b,c", "back\\slash", "end\\", "both\\'", "${x}"[1:]]
)
def test_any_folder_is_read_as_it_was_meant(name: str) -> None:
    composed = compose(
        "sft_trainer_engine", build_rft_overrides(load_scale("paper"), PLACES.replace(out=name))
    )
    assert composed.trainer.default_local_dir == name


@pytest.mark.verl
@pytest.mark.parametrize("name", list_presets())
def test_rft_composes(name: str) -> None:
    config = load_scale(name)
    composed = compose("sft_trainer_engine", build_rft_overrides(config, PLACES))
    assert composed.optim.lr == config.rft.lr
    assert composed.data.train_batch_size == config.rft.batch
    assert composed.engine.strategy == "fsdp2"
    assert composed.trainer.n_gpus_per_node == config.machines.gpus_per_node
