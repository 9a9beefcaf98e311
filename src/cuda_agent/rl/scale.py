"""One typed configuration of a run on many GPUs: what is trained, on which machines, with which numbers.

The same configuration is computed with (`rl/plan.py`), simulated (`rl/simulation.py`) and turned into the
engine's own settings (`rl/verl_adapter/overrides.py`). The defaults of the stages are the paper's.
"""

import tomllib
from pathlib import Path
from typing import Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, ValidationError, model_validator

from cuda_agent.config import Config
from cuda_agent.errors import ConfigError
from cuda_agent.llm.local_config import Precision

PRESETS = Path(__file__).parent / "presets"


class LLMShape(Config):
    """The sizes of a decoder-only language model."""

    path: str
    """Checkpoint folder, or the name that transformers knows it by."""
    total_billions: PositiveFloat
    """Parameters in all, in 10^9."""
    active_billions: PositiveFloat
    """Parameters that one token meets, in 10^9; fewer in a mixture of experts."""
    layers: PositiveInt
    """Decoder layers."""
    hidden: PositiveInt
    """Width of the residual stream."""
    heads: PositiveInt
    """Query heads a layer."""
    kv_heads: PositiveInt
    """Key and value heads a layer."""
    head_dim: PositiveInt
    """Width of a head."""
    vocabulary: PositiveInt
    """Rows of the output layer."""


class Machines(Config):
    """The GPUs. Those for evaluation time kernels and do nothing else."""

    nodes: PositiveInt
    """Nodes that train."""
    gpus_per_node: PositiveInt
    """Training GPUs of each."""
    gpu_memory_gb: PositiveFloat
    """Memory of a training GPU, in 10^9 bytes."""
    bf16_tflops: PositiveFloat
    """Dense bfloat16 peak of one, in 10^12 operations a second."""
    memory_tb_per_s: PositiveFloat
    """Memory bandwidth of one, in 10^12 bytes a second."""
    eval_gpus: PositiveInt
    """GPUs for evaluation."""
    judges_per_gpu: PositiveInt = 1
    """Submissions that are judged side by side on each of them."""
    build_cores: PositiveInt
    """Processor cores that compile submissions."""

    @property
    def training_gpus(self) -> int:
        """How many GPUs train."""
        return self.nodes * self.gpus_per_node


class Layout(Config):
    """How a language model lies on the training GPUs."""

    tensor_parallel: PositiveInt = 1
    """GPUs of one copy that generates."""
    sequence_parallel: PositiveInt = 1
    """GPUs that share one sequence in training (Ulysses)."""
    tokens_per_gpu: PositiveInt = 32768
    """Tokens of a micro-batch that one GPU holds in training."""
    offload: bool = False
    """Keep weights and optimiser in host memory while another part uses the GPU."""
    generation_share: float = Field(default=0.6, gt=0.0, le=1.0)
    """Share of a GPU's memory for weights and KV cache while generating."""
    packed: bool = True
    """Put sequences end to end, which needs flash attention; otherwise pad them."""
    precision: Precision = Precision.BFLOAT16
    """What training computes with; the weights are float32 in any case."""


class EpisodeShape(Config):
    """Limits of an episode, and what is expected of one."""

    prompt_tokens: PositiveInt
    """Longest prompt."""
    response_tokens: PositiveInt
    """Longest response: generated and tool tokens together."""
    turns: PositiveInt = 150
    """Most turns."""
    expected_turns: PositiveFloat
    """Mean turns."""
    expected_generated: PositiveFloat
    """Mean tokens generated in a turn."""
    expected_tool: NonNegativeFloat
    """Mean tokens that tools answer in a turn."""
    expected_evaluations: PositiveFloat
    """Mean evaluations of an episode, the last judgement included."""
    build_s: PositiveFloat
    """Mean core seconds to build one submission."""
    evaluation_s: PositiveFloat
    """Mean seconds of one evaluation, with machines.judges_per_gpu side by side."""


class PpoSettings(Config):
    """Multi-turn PPO; the defaults are the paper's."""

    batch: PositiveInt = 1024
    """Episodes a step."""
    steps: PositiveInt = 150
    """How often the policy is updated in all."""
    actor_lr: PositiveFloat = 3e-6
    """The policy's learning rate."""
    critic_lr: PositiveFloat = 6e-6
    """The critic's learning rate."""
    eps_lower: PositiveFloat = 0.2
    """The ratio is clipped at 1 - eps_lower."""
    eps_higher: PositiveFloat = 0.28
    """The ratio is clipped at 1 + eps_higher."""
    gamma: PositiveFloat = 1.0
    """Discount."""
    gae_lambda: NonNegativeFloat = 0.95
    """Decay of advantages over generated tokens."""
    save_every: PositiveInt = 10
    """Steps between checkpoints."""


class SupervisedSettings(Config):
    """Rejection fine-tuning, or value pretraining: passes over saved trajectories."""

    batch: PositiveInt = 64
    """Trajectories a step."""
    epochs: PositiveInt = 1
    """Passes."""
    lr: PositiveFloat
    """Learning rate."""
    save_every: PositiveInt = 50
    """Steps between two checkpoints; the last step always leaves one."""


class ScaleConfig(Config):
    """A whole run on many GPUs."""

    llm: LLMShape
    """What is trained; the critic has the same sizes."""
    machines: Machines
    """What it is trained on."""
    layout: Layout = Layout()
    """How it is spread."""
    episode: EpisodeShape
    """Limits and expectations of an episode."""
    rft: SupervisedSettings = SupervisedSettings(lr=3e-6)
    """Rejection fine-tuning of the policy."""
    value: SupervisedSettings = SupervisedSettings(lr=6e-6)
    """Value pretraining of the critic."""
    ppo: PpoSettings = PpoSettings()
    """Reinforcement learning."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        gpus, layout = self.machines.training_gpus, self.layout
        longest = self.episode.prompt_tokens + self.episode.response_tokens
        held = layout.tokens_per_gpu * layout.sequence_parallel
        for name in ("tensor_parallel", "sequence_parallel"):
            if gpus % getattr(layout, name):
                raise ValueError(f"layout.{name} does not divide the {gpus} training GPUs")
        if self.llm.heads % layout.sequence_parallel:
            raise ValueError(f"layout.sequence_parallel does not divide {self.llm.heads} heads")
        if layout.sequence_parallel > 1 and not layout.packed:
            raise ValueError("layout.sequence_parallel above 1 needs layout.packed = true")
        if layout.precision is Precision.AUTO:
            raise ValueError("layout.precision must say which: bfloat16, float16 or float32")
        if longest > held:
            raise ValueError(
                f"an episode of {longest} tokens does not fit {held}: raise layout.tokens_per_gpu or "
                "layout.sequence_parallel"
            )
        groups = gpus // layout.sequence_parallel
        for stage in ("rft", "value", "ppo"):
            if (batch := getattr(self, stage).batch) % groups:
                raise ValueError(f"{stage}.batch {batch} is no multiple of {groups}, the groups that train")
        return self


def list_presets() -> tuple[str, ...]:
    """Names of the configurations that come with the package."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.toml")))


def load_scale(source: str) -> ScaleConfig:
    """A configuration that comes with the package, by name, or one of a TOML file.

    Raises:
        ConfigError: there is no such thing, or it does not hold together.
    """
    path = PRESETS / f"{source}.toml" if source in list_presets() else Path(source)
    try:
        return ScaleConfig.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        known = ", ".join(list_presets())
        raise ConfigError(f"{source}: {error.strerror}; give a TOML file, or one of {known}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: no TOML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise ConfigError(f"{path}: {place}: {first['msg']}") from error
