"""The stages that learn from episodes on disk: imitation, rejection fine-tuning, value pretraining."""

from collections.abc import Sequence
from pathlib import Path

import tyro
from pydantic import PositiveInt

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.cli.train_data import load_trajectories
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.rl.batch import TokenSequence
from cuda_agent.rl.checkpoint import find_network
from cuda_agent.rl.config import ImitateConfig, RftConfig, ScratchConfig, StageConfig, ValueConfig
from cuda_agent.rl.imitate import Imitation
from cuda_agent.rl.policy import Policy, build_actor, build_critic, choose_device, load_critic, load_policy
from cuda_agent.rl.rft import Rejection, filter_trajectories
from cuda_agent.rl.slips import add_slips
from cuda_agent.rl.tokenizer import build_template, encode_episode, list_texts, train_tokenizer
from cuda_agent.rl.value_pretraining import ValuePretraining, build_value_sequences
from cuda_agent.rundir import RunDir


class Place(Config):
    """Where a stage's run is, and how large it is."""

    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: Path | None = None
    """The folder of a run to go on with; the other options must be those it was started with."""
    micro: bool = False
    """Seconds to minutes on two cores: few steps, small batches, high rates, and a tiny network where one is
    made. What is given explicitly stays."""


class ImitateOptions(ImitateConfig, Place):
    """Learn by imitation from an expert's episodes; stands in for a base model's pretraining."""

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs with episodes, such as those of `cuda-agent run --policy expert --prompt brief`."""
    start: str | None = None
    """The checkpoint to go on from: a run, a folder or a hub id. Without it a small Llama from nothing."""
    vocabulary: PositiveInt = 2048
    """Tokens of the tokenizer that is fitted to the episodes, where there is no checkpoint."""
    scratch: ScratchConfig = ScratchConfig()
    """The network, where there is no checkpoint."""
    slips: bool = False
    """Whether each first reply is also shown once with each slip of `rl/slips.py` (one thread only, gaps, a
    fallback to torch), as a base model has read worse code than an expert's: PPO then has what to choose."""


class RftOptions(RftConfig, Place):
    """Fine-tune a policy on those of its own episodes that are good: R > 0, well-formed, not stuck."""

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs with episodes of this policy, sampled by `cuda-agent run --policy local:...` or a training run."""
    start: str | None = None
    """The checkpoint to fine-tune: a run, a folder or a hub id."""


class ValueOptions(ValueConfig, Place):
    """Teach a critic what a policy's episodes are worth, before PPO begins."""

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs with episodes of this policy, good and bad ones."""
    start: str | None = None
    """The policy whose trunk the critic begins with: a run, a folder or a hub id."""
    critic_start: str | None = None
    """A critic to go on from instead."""


def build_imitation(options: ImitateOptions) -> Imitation:
    """Imitation of the episodes that earned something.

    Raises:
        UserError: none did, or none fits into the network.
    """
    trajectories = [trajectory for trajectory in load_trajectories(options.data) if trajectory.reward > 0]
    if not trajectories:
        raise UserError("no episode has a reward above 0, so there is nothing to imitate")
    if options.slips:
        trajectories = [shown for trajectory in trajectories for shown in add_slips(trajectory)]
    policy = load_start(options.start, options) if options.start else _build_policy(options, trajectories)
    assert policy.tokenizer is not None
    template, end_id = build_template(policy.tokenizer), int(policy.tokenizer.eos_token_id)
    sequences = [encode_episode(trajectory, template, end_id=end_id) for trajectory in trajectories]
    return Imitation(options, policy, sequences=keep_fitting(sequences, policy))


def build_rft(options: RftOptions, run: RunDir) -> Imitation:
    """Imitation of what passes the filter; `filter.json` counts the rest by its reasons."""
    policy = load_start(options.start, options)
    sequences, counted = filter_trajectories(load_trajectories(options.data), options)
    run.write_text("filter.json", counted.model_dump_json(indent=1) + "\n")
    print(f"kept {counted.kept}, rejected: {_list_counts(counted.rejected)}", flush=True)
    return Imitation(options, policy, sequences=keep_fitting(sequences, policy))


def build_value_pretraining(options: ValueOptions) -> ValuePretraining:
    """A critic of its own, or the policy's trunk with a new head."""
    device = choose_device(options.device)
    if options.critic_start:
        critic = load_critic(str(find_network(Path(options.critic_start), "critic")), device=device)
    else:
        critic = build_critic(load_start(options.start, options).model, seed=options.seed)
    sequences = build_value_sequences(load_trajectories(options.data))
    return ValuePretraining(options, critic, sequences=sequences)


def load_start(start: str | None, options: StageConfig) -> Policy:
    """The policy that a stage begins with.

    Raises:
        UserError: none is named, or it cannot be loaded.
    """
    if not start:
        raise UserError("no policy given: --start RUN, a checkpoint's folder or a hub id")
    place = find_network(Path(start), "actor") if Path(start).exists() else start
    return load_policy(str(place), device=choose_device(options.device))


def keep_fitting(sequences: Sequence[TokenSequence], policy: Policy) -> list[TokenSequence]:
    """Those that the network's window holds; says how many it does not."""
    window = int(policy.model.config.max_position_embeddings)
    kept = [sequence for sequence in sequences if len(sequence.ids) <= window]
    if len(kept) < len(sequences):
        longest = max(len(sequence.ids) for sequence in sequences)
        print(f"{len(sequences) - len(kept)} of {len(sequences)} episodes are longer than {window} tokens "
              f"(the longest has {longest}) and left out", flush=True)  # fmt: skip
    return kept


def _build_policy(options: ImitateOptions, trajectories: Sequence[Trajectory]) -> Policy:
    tokenizer = train_tokenizer(
        (text for trajectory in trajectories for text in list_texts(trajectory)), options.vocabulary
    )
    end_id = int(tokenizer.eos_token_id)
    model = build_actor(options.scratch, len(tokenizer), seed=options.seed, end_id=end_id)
    model.to(choose_device(options.device))  # type: ignore[arg-type]
    return Policy(model, tokenizer)


def _list_counts(counts: dict[Rejection, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items()) or "none"
