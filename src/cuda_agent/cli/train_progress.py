"""How far training is: a line a step, with the figures that tell most."""

from rich.console import Console

from cuda_agent.rl.training import StepRecord

SHOWN = {
    "train/loss": "loss",
    "critic/rewards/mean": "reward",
    "actor/entropy": "entropy",
    "actor/pg_clipfrac": "clipped",
    "actor/ppo_kl": "kl",
    "critic/vf_loss": "value loss",
    "critic/vf_explained_var": "explained",
    "response_length/clip_ratio": "cut",
}
"""Of a step's figures these, under these names; metrics.jsonl has all."""


class TrainingProgress:
    """Tells each step on a console."""

    def __init__(self, console: Console, steps: int) -> None:
        self._console = console
        self._steps = steps

    def __call__(self, record: StepRecord) -> None:
        """Print a step's line."""
        figures = "  ".join(
            f"{name} {record.metrics[key]:.4g}" for key, name in SHOWN.items() if key in record.metrics
        )
        line = f"step {record.step + 1}/{self._steps}  {record.seconds:.1f} s  {figures}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
