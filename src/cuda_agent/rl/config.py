"""What each stage of training is asked to do: the paper's numbers where it gives them, by its names.

What the paper leaves out (epochs of the supervised stages, minibatches, clipping of gradients) is a choice,
and said to be one in docs/training.md.
"""

from typing import Any, TypeVar

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from cuda_agent.config import Config
from cuda_agent.environment.reward import RewardKind
from cuda_agent.llm.local_config import Precision
from cuda_agent.rl.losses import Mean


class ScratchConfig(Config):
    """A small Llama that starts from nothing: the default is one of about 13 million parameters."""

    layers: PositiveInt = 8
    """Transformer blocks."""
    hidden: PositiveInt = 320
    """Width; a multiple of twice `heads`."""
    heads: PositiveInt = 5
    """Attention heads."""
    intermediate: PositiveInt = 896
    """Width of the gated layer of a block."""
    window_tokens: PositiveInt = 8192
    """How many tokens an episode may have."""


class OptimiserConfig(Config):
    """AdamW, with the gradient cut to a length."""

    learning_rate: PositiveFloat = 3e-6
    """Its highest value, held after the warm-up."""
    warmup_steps: NonNegativeInt = 0
    """Steps over which it rises linearly."""
    weight_decay: NonNegativeFloat = 0.0
    """Decoupled decay of all weights, per unit of learning rate."""
    clip_norm: PositiveFloat = 1.0
    """The longest gradient, as an L2 norm over all weights."""


class StageConfig(Config):
    """What all stages have in common."""

    seed: int = 0
    """Of the data's order, of new weights, and of what is sampled."""
    steps: PositiveInt = 150
    """Steps in all, a resumed run's earlier ones included."""
    batch: PositiveInt = 1024
    """Trajectories a step."""
    micro_batch: PositiveInt = 8
    """Trajectories that go through the network at once: the memory it takes, and nothing else."""
    mean: Mean = Mean.TRAJECTORY
    """Over what losses are averaged; the paper's is each trajectory, and then over them."""
    device: str = "auto"
    """Where the networks are: `cpu`, `cuda`, `cuda:1`; `auto` takes a GPU if there is one."""
    precision: Precision = Precision.FLOAT32
    """What they compute with; the weights are float32 in any case."""
    save_every: PositiveInt = 10
    """Steps between two checkpoints; the last step always leaves one."""
    keep: PositiveInt = 2
    """How many checkpoints are kept, the newest ones."""
    show_every: PositiveInt = 10
    """Steps between two samples of episodes in `samples.jsonl`."""


class ImitateConfig(StageConfig):
    """Supervised training on expert episodes: it stands in for a base model's pretraining."""

    batch: PositiveInt = 64
    """Trajectories a step."""
    actor: OptimiserConfig = OptimiserConfig(learning_rate=1e-3, warmup_steps=20)
    """How the actor learns."""


class RftConfig(StageConfig):
    """Rejection fine-tuning, on what passes the filter."""

    batch: PositiveInt = 64
    """Trajectories a step."""
    actor: OptimiserConfig = OptimiserConfig(learning_rate=3e-6)
    """How the actor learns."""
    repeated_turns: PositiveInt = 5
    """From so many times the same in a row a trajectory counts as stuck; the loop's own rule."""
    idle_turns: PositiveInt = 40
    """From so many turns in a row that change no file it does too."""


class GaeConfig(Config):
    """How rewards become advantages and value targets."""

    gamma: NonNegativeFloat = 1.0
    """Discount from one generated token to the next."""
    gae_lambda: NonNegativeFloat = 0.95
    """Decay of later differences; 1 is the whole return, 0 the next value alone."""


class ValueConfig(StageConfig):
    """Value pretraining: the critic learns from the trajectories of the policy it is to judge."""

    batch: PositiveInt = 64
    """Trajectories a step."""
    critic: OptimiserConfig = OptimiserConfig(learning_rate=6e-6)
    """How the critic learns."""
    gae: GaeConfig = GaeConfig()
    """Its targets are V + A."""


class CollapseConfig(Config):
    """What counts as collapse, over the last `window` steps; each ends a run with its reason."""

    window: PositiveInt = 5
    """Steps whose mean is looked at; a run is never stopped before it has had twice as many."""
    reward_drop: PositiveFloat = 1.0
    """How far the mean reward may fall below the best window's."""
    entropy_floor: NonNegativeFloat = 1e-3
    """Below it, in nats a token, the policy has stopped trying anything."""
    entropy_rise: PositiveFloat = 3.0
    """How many times the first window's entropy it may become."""
    ratio: PositiveFloat = 100.0
    """How large an update's largest importance ratio may be, in every step of the window."""
    explained_variance: float = -10.0
    """Below it the critic is worse than none."""


class PpoConfig(StageConfig):
    """PPO on whole episodes, many turns each."""

    actor: OptimiserConfig = OptimiserConfig(learning_rate=3e-6)
    """How the actor learns."""
    critic: OptimiserConfig = OptimiserConfig(learning_rate=6e-6)
    """How the critic learns."""
    gae: GaeConfig = GaeConfig()
    """From rewards to advantages."""
    normalise: bool = True
    """Whether advantages have mean 0 and deviation 1 over a step's tokens."""
    eps_lower: PositiveFloat = 0.2
    """How far below 1 the ratio may push."""
    eps_higher: PositiveFloat = 0.28
    """How far above 1; more than below, so that rare tokens may become less rare."""
    epochs: PositiveInt = 1
    """How often a step's trajectories are gone through."""
    minibatches: PositiveInt = 1
    """Into how many parts a step's trajectories are cut, each with an update of its own."""
    episodes: PositiveInt = 8
    """Episodes of each task in a step, so that `batch / episodes` tasks make one."""
    reward: RewardKind = RewardKind.MILESTONE
    """What an episode earns: the paper's steps, or as its ablation the raw speed-up."""
    collapse: CollapseConfig = CollapseConfig()
    """When it stops."""


class SingleTurnConfig(PpoConfig):
    """PPO on single answers: the warm-up of a base model."""


MICRO: dict[str, Any] = {
    "steps": 30,
    "batch": 8,
    "episodes": 4,
    "vocabulary": 512,
    "actor": OptimiserConfig(learning_rate=3e-3),
    "critic": OptimiserConfig(learning_rate=3e-3),
    "scratch": ScratchConfig(layers=2, hidden=64, heads=2, intermediate=128, window_tokens=8192),
}
"""What a stage takes that is to last minutes on two cores."""

ConfigT = TypeVar("ConfigT", bound=Config)


def build_micro(config: ConfigT) -> ConfigT:
    """The same stage, small: whatever was left at its default is that of `MICRO`, where that has it."""
    fields = type(config).model_fields
    changes = {
        name: value
        for name, value in MICRO.items()
        if name in fields and getattr(config, name) == fields[name].default
    }
    return config.model_copy(update=changes)
