"""From one typed configuration to verl's own settings, one function a stage.

The paper's losses are verl's with these settings: means over each trajectory and then over trajectories,
no bonus for entropy, no KL term, and clips that verl adds (of values, of ratios with negative advantages)
moved out of reach.
"""

import re
from pathlib import Path

from cuda_agent.config import Config
from cuda_agent.rl.scale import Layout, ScaleConfig, SupervisedSettings

OUT_OF_REACH = 1e6
"""A bound that no ratio and no value meets."""
KEPT = 2
"""How many checkpoints are kept, the newest ones."""
ROOM = Path(__file__).parent
AGENT_NAME = "cuda_agent"
"""What the agent loop is called in verl's configuration."""


class Places(Config):
    """The files and folders of one stage."""

    model: str
    """Checkpoint that the policy starts from."""
    critic: str = ""
    """Checkpoint that the critic starts from; the policy's where none is given."""
    train: Path
    """Parquet file to train on."""
    validation: Path | None = None
    """Parquet file to look at between steps."""
    out: Path
    """Where checkpoints and episodes are written."""
    agent_loop: Path = ROOM / "agent_loop.yaml"
    """Names the class that holds episodes, and how it holds them."""


def build_ppo_overrides(config: ScaleConfig, places: Places) -> list[str]:
    """Settings for `python -m verl.trainer.main_ppo`."""
    return [
        *_list_data(config, places),
        *_list_algorithm(config),
        *_list_actor(config, places),
        *_list_rollout(config, places),
        *_list_critic(config, places),
        *_list_trainer(config, places),
    ]


def build_rft_overrides(config: ScaleConfig, places: Places) -> list[str]:
    """Settings for `torchrun -m cuda_agent.rl.verl_adapter.rft`."""
    return [
        f"model.path={quote_value(places.model)}",
        f"optim.lr={config.rft.lr}",
        "optim.weight_decay=0.0",
        "data.custom_cls.path=pkg://cuda_agent.rl.verl_adapter.dataset",
        "data.custom_cls.name=TrajectoryTokens",
        f"data.val_files={quote_value(places.validation) if places.validation else 'null'}",
        f"trainer.total_epochs={config.rft.epochs}",
        *_list_supervised(config, config.rft, places=places),
    ]


def quote_value(value: str | Path) -> str:
    """A text as a value of hydra's, whatever characters it has."""
    text = str(value)
    if re.fullmatch(r"[\w./:-]+", text):
        return text
    # To hydra a backslash is one, but before a quote.
    escaped = re.sub(r"(\\*)('|\Z)", lambda match: match[1] * 2 + match[2].replace("'", "\\'"), text)
    return f"'{escaped}'"


def _list_supervised(config: ScaleConfig, stage: SupervisedSettings, *, places: Places) -> list[str]:
    layout, machines = config.layout, config.machines
    return [
        *_list_model("model", layout),
        "engine.strategy=fsdp2",
        f"+engine.mixed_precision.param_dtype={layout.precision.value}",
        f"engine.ulysses_sequence_parallel_size={layout.sequence_parallel}",
        f"engine.param_offload={layout.offload}",
        f"engine.optimizer_offload={layout.offload}",
        f"data.train_files={quote_value(places.train)}",
        f"data.train_batch_size={stage.batch}",
        "data.pad_mode=no_padding",
        "data.use_dynamic_bsz=True",
        f"data.max_token_len_per_gpu={layout.tokens_per_gpu}",
        f"trainer.default_local_dir={quote_value(places.out)}",
        f"trainer.nnodes={machines.nodes}",
        f"trainer.n_gpus_per_node={machines.gpus_per_node}",
        f"trainer.save_freq={stage.save_every}",
        f"trainer.max_ckpt_to_keep={KEPT}",
        "trainer.logger=[console]",
        "checkpoint.save_contents=[model,optimizer,extra,hf_model]",
        "checkpoint.load_contents=[model,optimizer,extra]",
    ]


def _list_model(place: str, layout: Layout) -> list[str]:
    attention = "flash_attention_2" if layout.packed else "sdpa"
    return [
        f"{place}.use_remove_padding={layout.packed}",
        f"{place}.enable_gradient_checkpointing=True",
        f"+{place}.override_config.attn_implementation={attention}",
    ]


def _list_data(config: ScaleConfig, places: Places) -> list[str]:
    return [
        f"data.train_files={quote_value(places.train)}",
        f"data.val_files={quote_value(places.validation or places.train)}",
        f"data.train_batch_size={config.ppo.batch}",
        f"data.max_prompt_length={config.episode.prompt_tokens}",
        f"data.max_response_length={config.episode.response_tokens}",
        "data.return_raw_chat=True",
    ]


def _list_algorithm(config: ScaleConfig) -> list[str]:
    return [
        "algorithm.adv_estimator=gae",
        f"algorithm.gamma={config.ppo.gamma}",
        f"algorithm.lam={config.ppo.gae_lambda}",
        "algorithm.use_kl_in_reward=False",
        "algorithm.rollout_correction.rollout_is=token",
        "algorithm.rollout_correction.rollout_is_threshold=2.0",
        "algorithm.rollout_correction.bypass_mode=False",
    ]


def _list_actor(config: ScaleConfig, places: Places) -> list[str]:
    actor, ppo, layout = "actor_rollout_ref.actor", config.ppo, config.layout
    return [
        f"actor_rollout_ref.model.path={quote_value(places.model)}",
        *_list_model("actor_rollout_ref.model", layout),
        f"{actor}.strategy=fsdp2",
        f"{actor}.clip_ratio={ppo.eps_lower}",
        f"{actor}.clip_ratio_low={ppo.eps_lower}",
        f"{actor}.clip_ratio_high={ppo.eps_higher}",
        f"{actor}.clip_ratio_c={OUT_OF_REACH}",
        f"{actor}.loss_agg_mode=seq-mean-token-mean",
        f"{actor}.use_kl_loss=False",
        f"{actor}.entropy_coeff=0",
        f"{actor}.ppo_mini_batch_size={ppo.batch}",
        f"{actor}.ppo_epochs=1",
        f"{actor}.use_dynamic_bsz=True",
        f"{actor}.ppo_max_token_len_per_gpu={layout.tokens_per_gpu}",
        f"{actor}.fsdp_config.ulysses_sequence_parallel_size={layout.sequence_parallel}",
        f"+{actor}.fsdp_config.mixed_precision.param_dtype={layout.precision.value}",
        f"{actor}.fsdp_config.param_offload={layout.offload}",
        f"{actor}.fsdp_config.optimizer_offload={layout.offload}",
        f"{actor}.optim.lr={ppo.actor_lr}",
        f"{actor}.optim.weight_decay=0.0",
    ]


def _list_rollout(config: ScaleConfig, places: Places) -> list[str]:
    rollout, episode, layout = "actor_rollout_ref.rollout", config.episode, config.layout
    return [
        f"{rollout}.name=vllm",
        f"{rollout}.n=1",
        f"{rollout}.tensor_model_parallel_size={layout.tensor_parallel}",
        f"{rollout}.gpu_memory_utilization={layout.generation_share}",
        f"{rollout}.max_model_len={episode.prompt_tokens + episode.response_tokens}",
        f"{rollout}.calculate_log_probs=True",
        f"{rollout}.temperature=1.0",
        f"{rollout}.top_p=1.0",
        f"{rollout}.multi_turn.enable=True",
        f"{rollout}.multi_turn.max_assistant_turns={episode.turns}",
        f"{rollout}.agent.default_agent_loop={AGENT_NAME}",
        f"{rollout}.agent.agent_loop_config_path={quote_value(places.agent_loop)}",
        f"{rollout}.agent.num_workers={max(8, config.machines.nodes)}",
        f"{rollout}.log_prob_use_dynamic_bsz=True",
        f"{rollout}.log_prob_max_token_len_per_gpu={layout.tokens_per_gpu}",
    ]


def _list_critic(config: ScaleConfig, places: Places) -> list[str]:
    ppo, layout = config.ppo, config.layout
    return [
        "critic.strategy=fsdp2",
        f"critic.model.path={quote_value(places.critic or places.model)}",
        *_list_model("critic.model", layout),
        f"critic.optim.lr={ppo.critic_lr}",
        "critic.optim.weight_decay=0.0",
        f"critic.cliprange_value={OUT_OF_REACH}",
        "critic.loss_agg_mode=seq-mean-token-mean",
        f"critic.ppo_mini_batch_size={ppo.batch}",
        "critic.ppo_epochs=1",
        "critic.use_dynamic_bsz=True",
        f"critic.ppo_max_token_len_per_gpu={layout.tokens_per_gpu}",
        f"critic.fsdp.ulysses_sequence_parallel_size={layout.sequence_parallel}",
        f"+critic.fsdp.mixed_precision.param_dtype={layout.precision.value}",
        f"critic.fsdp.param_offload={layout.offload}",
        f"critic.fsdp.optimizer_offload={layout.offload}",
    ]


def _list_trainer(config: ScaleConfig, places: Places) -> list[str]:
    return [
        "trainer.critic_warmup=0",
        f"trainer.val_before_train={places.validation is not None}",
        f"trainer.test_freq={config.ppo.save_every if places.validation else -1}",
        f"trainer.total_training_steps={config.ppo.steps}",
        f"trainer.nnodes={config.machines.nodes}",
        f"trainer.n_gpus_per_node={config.machines.gpus_per_node}",
        "trainer.logger=[console,tensorboard]",
        f"trainer.default_local_dir={quote_value(places.out)}",
        f"trainer.rollout_data_dir={quote_value(places.out / 'samples')}",
        f"trainer.save_freq={config.ppo.save_every}",
        f"trainer.max_actor_ckpt_to_keep={KEPT}",
        f"trainer.max_critic_ckpt_to_keep={KEPT}",
        "trainer.resume_mode=auto",
        "trainer.use_v1=True",
        "trainer.v1.trainer_mode=sync",
    ]
