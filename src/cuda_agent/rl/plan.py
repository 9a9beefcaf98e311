"""What a run needs before it is started: memory on each training GPU, and the time of a step.

Plain arithmetic over a `ScaleConfig`, with the assumptions below. It tells what fits and what limits, to
within a factor of about two; a measured first step is worth more.
"""

import math

from cuda_agent.config import Record
from cuda_agent.rl.scale import LLMShape, ScaleConfig

BF16_BYTES = 2
FP32_BYTES = 4
STATE_BYTES = 16
"""A parameter in training: float32 weight and gradient, and the two moments of Adam."""
LAYER_ACTIVATIONS = 34
"""Bytes that a layer keeps for each token and unit of width while it is computed anew (Korthikanti et al.
2022, equation 2, without the attention matrix)."""
LOGITS_BYTES = 6
"""Bytes for each logit: one in bfloat16, and its gradient in float32."""
TRAIN_SHARE = 0.35
"""Share of the peak that training reaches."""
DECODE_SHARE = 0.6
"""Share of the memory bandwidth that decoding reaches."""
DECODE_OVERHEAD_S = 0.005
"""Launches and communication of one decoding step."""

ASSUMPTIONS = (
    "training state: 16 bytes a parameter (float32 weight and gradient, two moments), sharded over all "
    "training GPUs; the critic is as large as the policy",
    "activations: each layer's input is kept (checkpointing), one layer is computed anew at 34 bytes a token "
    "and unit of width, logits take 6 bytes each; layout.sequence_parallel GPUs share a sequence",
    "with layout.offload only one of policy, critic and generator is on the GPU at a time",
    "generation: bfloat16 weights and cache, 60 % of the memory bandwidth, 5 ms a step for launches and "
    "communication; a mixture of experts reads as many weights as its batch touches, at most all",
    "training: 35 % of the bfloat16 peak; 8 operations a parameter and token (forward, backward, recomputed "
    "forward), 2 more for log-probabilities or values; causal attention counted; one update a step",
    "all episodes have the mean length, but for the longest; halfway through, a cache holds half of it",
    "evaluations: machines.judges_per_gpu side by side on each GPU, as long as three take on an H200, "
    "a task's first one with its baselines; their builds take one core each; both overlap with generation",
    "not counted: reading prompts and tool output, weight synchronisation, start-up, fragmentation",
)


class MemoryPlan(Record):
    """Bytes on one training GPU."""

    state_bytes: float
    """Weights, gradients and optimiser of policy or critic, this GPU's share."""
    gathered_bytes: float
    """Two layers' weights in bfloat16, gathered for computing."""
    activation_bytes: float
    """Kept inputs of layers, and one layer's working set."""
    logits_bytes: float
    """The output layer's logits and their gradient."""
    training_bytes: float
    """All of it while the policy trains, and the critic's state where it is not offloaded."""
    weights_bytes: float
    """Weights of the copy that generates, this GPU's share."""
    cache_bytes: float
    """What is left for the KV cache while generating; negative when nothing is."""
    cached_tokens: int
    """Tokens that the cache of one copy holds."""
    fits: bool
    """Whether training stays below 90 % of the memory, and the cache holds at least one longest episode."""


class TimePlan(Record):
    """Seconds of one PPO step."""

    copies: int
    """Copies of the policy that generate side by side."""
    episodes_at_once: float
    """Episodes that one copy holds at their mean length."""
    decode_step_s: float
    """One token for each of them."""
    generate_s: float
    """All tokens of the step, were the copies always full."""
    longest_s: float
    """An episode of the full length, alone in time: generating, building and evaluating in turn."""
    evaluations: float
    """Evaluations of a step."""
    evaluate_s: float
    """All of them on the evaluation GPUs."""
    build_s: float
    """All builds on the build cores."""
    rollout_s: float
    """The longest of these four: they overlap."""
    train_s: float
    """Log-probabilities, values, and the updates of policy and critic."""
    step_s: float
    """Rollout and then training."""
    limit: str
    """What the rollout waits for."""

    def compute_run_days(self, steps: int) -> float:
        """Days that so many steps take."""
        return steps * self.step_s / 86400


def compute_memory(config: ScaleConfig) -> MemoryPlan:
    """Bytes on one training GPU, in training and while generating."""
    llm, layout = config.llm, config.layout
    total, tokens = llm.total_billions * 1e9, layout.tokens_per_gpu
    gpu_bytes = config.machines.gpu_memory_gb * 1e9
    state = STATE_BYTES * total / config.machines.training_gpus
    gathered = 2 * BF16_BYTES * total / llm.layers
    activations = tokens * llm.hidden * (BF16_BYTES * llm.layers + LAYER_ACTIVATIONS)
    logits = LOGITS_BYTES * tokens * llm.vocabulary
    states = state if layout.offload else 2 * state
    training = states + gathered + activations + logits
    weights = BF16_BYTES * total / layout.tensor_parallel
    resident = 0.0 if layout.offload else 2 * state
    cache = min(layout.generation_share * gpu_bytes, gpu_bytes - resident) - weights
    cached_tokens = max(0, int(cache * layout.tensor_parallel / compute_cache_bytes(llm)))
    longest = config.episode.prompt_tokens + config.episode.response_tokens
    return MemoryPlan(
        state_bytes=state,
        gathered_bytes=gathered,
        activation_bytes=activations,
        logits_bytes=logits,
        training_bytes=training,
        weights_bytes=weights,
        cache_bytes=cache,
        cached_tokens=cached_tokens,
        fits=training <= 0.9 * gpu_bytes and cached_tokens >= longest,
    )


def compute_time(config: ScaleConfig) -> TimePlan:
    """Seconds of one PPO step, and what it waits for."""
    episode, machines, batch = config.episode, config.machines, config.ppo.batch
    copies = machines.training_gpus // config.layout.tensor_parallel
    length = compute_mean_length(config)
    at_once = min(batch / copies, max(1.0, compute_memory(config).cached_tokens / length))
    decode_step_s = compute_decode_step(config, at_once, context=length / 2)
    generated = episode.expected_turns * episode.expected_generated
    evaluations = batch * episode.expected_evaluations
    parts = {
        "generation": batch * generated * decode_step_s / (copies * at_once),
        "the longest episode": compute_longest(config, decode_step_s),
        "evaluation GPUs": evaluations
        * episode.evaluation_s
        / (machines.eval_gpus * machines.judges_per_gpu),
        "build cores": evaluations * episode.build_s / machines.build_cores,
    }
    limit = max(parts, key=lambda name: parts[name])
    train_s = (
        batch
        * compute_training_operations(config.llm, length)
        / (machines.training_gpus * machines.bf16_tflops * 1e12 * TRAIN_SHARE)
    )
    return TimePlan(
        copies=copies,
        episodes_at_once=at_once,
        decode_step_s=decode_step_s,
        generate_s=parts["generation"],
        longest_s=parts["the longest episode"],
        evaluations=evaluations,
        evaluate_s=parts["evaluation GPUs"],
        build_s=parts["build cores"],
        rollout_s=parts[limit],
        train_s=train_s,
        step_s=parts[limit] + train_s,
        limit=limit,
    )


def compute_cache_bytes(llm: LLMShape) -> int:
    """Bytes of KV cache for one token: a key and a value a layer and head, in bfloat16."""
    return 2 * llm.layers * llm.kv_heads * llm.head_dim * BF16_BYTES


def compute_mean_length(config: ScaleConfig) -> float:
    """Tokens of an episode as expected: half of the longest prompt, and its turns; at most the limit."""
    episode = config.episode
    response = episode.expected_turns * (episode.expected_generated + episode.expected_tool)
    return episode.prompt_tokens / 2 + min(response, episode.response_tokens)


def compute_decode_step(config: ScaleConfig, at_once: float, *, context: float) -> float:
    """Seconds of one decoding step of a copy that holds `at_once` episodes of `context` tokens."""
    llm, layout = config.llm, config.layout
    weights = BF16_BYTES * 1e9 * min(llm.total_billions, llm.active_billions * max(1.0, at_once))
    read = weights + at_once * context * compute_cache_bytes(llm)
    bandwidth = layout.tensor_parallel * config.machines.memory_tb_per_s * 1e12 * DECODE_SHARE
    return read / bandwidth + DECODE_OVERHEAD_S


def compute_longest(config: ScaleConfig, decode_step_s: float) -> float:
    """Seconds of an episode of the full length, whose turns are like the expected ones."""
    episode = config.episode
    turn_tokens = episode.expected_generated + episode.expected_tool
    turns = min(float(episode.turns), math.floor(episode.response_tokens / turn_tokens))
    evaluations = turns * episode.expected_evaluations / episode.expected_turns
    generating = turns * episode.expected_generated * decode_step_s
    return generating + evaluations * (episode.build_s + episode.evaluation_s)


def compute_training_operations(llm: LLMShape, length: float) -> float:
    """Operations that a step spends on one episode: two scorings and two updates, policy's and critic's.

    A forward pass takes 2 operations a parameter and token, and 2 L h d T^2 for causal attention; an update
    is four forward passes, one of them the recomputed one.
    """
    forward = 2 * llm.active_billions * 1e9 * length
    forward += 2 * llm.layers * llm.heads * llm.head_dim * length**2
    return 2 * (1 + 4) * forward
