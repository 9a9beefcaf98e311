"""`cuda-agent train plan`: memory and time of a run on many GPUs, with what was assumed."""

import tyro
from rich.table import Table

from cuda_agent.cli.console import build_console
from cuda_agent.config import Config
from cuda_agent.rl.plan import ASSUMPTIONS, MemoryPlan, TimePlan, compute_memory, compute_time
from cuda_agent.rl.scale import ScaleConfig, load_scale

GB = 1e9


class PlanOptions(Config):
    """Compute what a run on many GPUs needs, before it is started."""

    scale: tyro.conf.Positional[str] = "paper"
    """A configuration that comes with the package (paper, one_node, two_gpus), or a TOML file like them."""


def plan_training(source: str) -> int:
    """Print the plan of a configuration by name or file; 0 when it fits in memory, else 1.

    Raises:
        ConfigError: there is no such configuration, or it does not hold together.
    """
    config = load_scale(source)
    memory, time = compute_memory(config), compute_time(config)
    console = build_console()
    machines = config.machines
    console.print(
        f"{config.llm.path}, {config.ppo.batch} episodes a step; {machines.training_gpus} GPUs of "
        f"{machines.gpu_memory_gb:g} GB train and generate, {machines.eval_gpus} evaluate",
        markup=False,
    )
    console.print(_tabulate("GB on each training GPU", list_memory(memory, config)))
    console.print(_tabulate("seconds of a PPO step", list_times(time)))
    console.print(
        f"{config.ppo.steps} steps take {time.compute_run_days(config.ppo.steps):.1f} days; "
        f"a step waits for {time.limit}."
    )
    if not memory.fits:
        console.print(explain_misfit(memory, config))
    console.print("Assumed:")
    for assumption in ASSUMPTIONS:
        console.print(f"- {assumption}", markup=False)
    return 0 if memory.fits else 1


def list_memory(memory: MemoryPlan, config: ScaleConfig) -> list[tuple[str, str]]:
    """The rows of the memory table, as (what, GB)."""
    return [
        ("policy's weights, gradients, optimiser", f"{memory.state_bytes / GB:.1f}"),
        ("layers gathered for computing", f"{memory.gathered_bytes / GB:.1f}"),
        ("activations", f"{memory.activation_bytes / GB:.1f}"),
        ("logits", f"{memory.logits_bytes / GB:.1f}"),
        ("training in all" + ("" if config.layout.offload else ", with the critic's state"),
         f"{memory.training_bytes / GB:.1f}"),
        ("generation: weights", f"{memory.weights_bytes / GB:.1f}"),
        (f"generation: KV cache ({memory.cached_tokens:,} tokens a copy)", f"{memory.cache_bytes / GB:.1f}"),
    ]  # fmt: skip


def list_times(time: TimePlan) -> list[tuple[str, str]]:
    """The rows of the time table, as (what, seconds)."""
    return [
        (f"generation, {time.copies} copies of {time.episodes_at_once:.0f} episodes, "
         f"{1000 * time.decode_step_s:.0f} ms a token", f"{time.generate_s:,.0f}"),
        (f"{time.evaluations:,.0f} evaluations", f"{time.evaluate_s:,.0f}"),
        ("their builds", f"{time.build_s:,.0f}"),
        ("an episode of full length", f"{time.longest_s:,.0f}"),
        ("rollout: the longest of these", f"{time.rollout_s:,.0f}"),
        ("training", f"{time.train_s:,.0f}"),
        ("the step", f"{time.step_s:,.0f}"),
    ]  # fmt: skip


def explain_misfit(memory: MemoryPlan, config: ScaleConfig) -> str:
    """What does not fit, and which settings mend it."""
    if memory.training_bytes > 0.9 * config.machines.gpu_memory_gb * GB:
        return (
            "Training does not fit into 90 % of the memory: more GPUs, layout.offload = true, or fewer "
            "layout.tokens_per_gpu with more layout.sequence_parallel."
        )
    return (
        "The KV cache does not hold one longest episode: raise layout.tensor_parallel or "
        "layout.generation_share."
    )


def _tabulate(title: str, rows: list[tuple[str, str]]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    table.add_column("", justify="right")
    for what, figure in rows:
        table.add_row(what, figure)
    return table
