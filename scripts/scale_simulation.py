r"""Where the time of the paper's run would go with 8, 128 and 1,024 evaluation GPUs: a table, and a plot.

    python -m scripts.scale_simulation docs/results/2026-11-30-h200-throughput-two.jsonl \
        --out docs/scale.svg

Build and judge times are drawn from the recorded ones: a task's first evaluation from those that took
baselines, later ones from those that met a warm judge. Lengths of a language model's episodes have not been
recorded, so they are assumed: log-normal around the configuration's means, with its limits.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.rl.plan import compute_decode_step, compute_mean_length, compute_time
from cuda_agent.rl.scale import ScaleConfig, load_scale
from cuda_agent.rl.simulation import PlayedStep, PlayedTurn, Rollout

SPREAD = 0.6
"""Standard deviation of the logarithm of an episode's turns, and of a turn's tokens."""
COLOURS = {
    "generate": "#4c78a8",
    "build_queue": "#f2cf5b",
    "build": "#b79a20",
    "evaluation_queue": "#e45756",
    "evaluation": "#9d2b2b",
    "others": "#bab0ac",
}
NAMES = {
    "generate": "generating",
    "build_queue": "waiting for a core",
    "build": "building",
    "evaluation_queue": "waiting for a GPU",
    "evaluation": "being evaluated",
    "others": "done, others are not",
    "train": "training",
}


@dataclass(frozen=True)
class Recorded:
    """Durations of recorded evaluations, in seconds."""

    builds_s: list[float]
    """Builds."""
    first_s: list[float]
    """Judging a task's first submission, baselines included."""
    later_s: list[float]
    """Judging further ones."""


def main() -> None:
    """Print a line for each pool size, and write the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--config", default="paper")
    parser.add_argument("--eval-gpus", type=int, nargs="+", default=[8, 128, 1024])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    config, recorded = load_scale(arguments.config), load_recorded(arguments.recorded)
    train_s = compute_time(config).train_s
    played = {}
    for gpus in arguments.eval_gpus:
        seats = gpus * config.machines.judges_per_gpu
        steps = [play(config, recorded, seats=seats, seed=seed) for seed in range(arguments.seeds)]
        played[gpus] = average(steps)
        print(describe(gpus, steps, train_s=train_s))
    if arguments.out:
        arguments.out.write_text(draw(played, train_s=train_s))


def load_recorded(path: Path) -> Recorded:
    """The lines of scripts/throughput.py; an item's name ends in /0 where it is its task's first."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    first = [row["judge_s"] for row in rows if row["item"].endswith("/0")]
    later = [row["judge_s"] for row in rows if not row["item"].endswith("/0")]
    return Recorded([row["build_s"] for row in rows], first, later)


def play(config: ScaleConfig, recorded: Recorded, *, seats: int, seed: int) -> PlayedStep:
    """One rollout with places for so many judgements; a seed draws the same episodes whatever the pool."""
    generator = random.Random(seed)
    episodes = [draw_episode(config, recorded, generator=generator) for _ in range(config.ppo.batch)]
    copies = config.machines.training_gpus // config.layout.tensor_parallel
    context = compute_mean_length(config) / 2
    return Rollout(
        episodes,
        tokens_per_s=lambda count: 1 / compute_decode_step(config, max(1.0, count / copies), context=context),
        build_cores=config.machines.build_cores,
        eval_gpus=seats,
    ).play()


def draw_episode(config: ScaleConfig, recorded: Recorded, *, generator: random.Random) -> list[PlayedTurn]:
    """Turns until the limit of turns or tokens, evaluations spread over them, the last one at the end."""
    shape = config.episode
    wanted = min(shape.turns, max(1, round(draw_around(shape.expected_turns, generator))))
    share = (shape.expected_evaluations - 1) / shape.expected_turns
    turns: list[PlayedTurn] = []
    left, judging = float(shape.response_tokens), recorded.first_s
    for number in range(wanted):
        tokens = min(left, draw_around(shape.expected_generated, generator))
        left -= tokens + shape.expected_tool
        is_last = number + 1 == wanted or left <= 0
        if is_last or generator.random() < share:
            turns.append(PlayedTurn(tokens, generator.choice(recorded.builds_s), generator.choice(judging)))
            judging = recorded.later_s
        else:
            turns.append(PlayedTurn(tokens))
        if is_last:
            break
    return turns


def draw_around(mean: float, generator: random.Random) -> float:
    """A log-normal number with this mean."""
    return mean * generator.lognormvariate(-(SPREAD**2) / 2, SPREAD)


def average(steps: Sequence[PlayedStep]) -> dict[str, float]:
    """The mean seconds of each part."""
    parts = [step.waits.model_dump() for step in steps]
    return {name: sum(part[name] for part in parts) / len(parts) for name in parts[0]}


def describe(gpus: int, steps: Sequence[PlayedStep], *, train_s: float) -> str:
    """One line: the rollout, its parts, how busy the pool was, and the range over seeds."""
    lengths = [step.rollout_s for step in steps]
    parts = ", ".join(f"{NAMES[name]} {seconds:.0f}" for name, seconds in average(steps).items())
    busy = sum(step.gpu_share for step in steps) / len(steps)
    cores = sum(step.core_share for step in steps) / len(steps)
    mean_s = sum(lengths) / len(lengths)
    return (
        f"{gpus} GPUs: rollout {mean_s:,.0f} s ({min(lengths):,.0f} to {max(lengths):,.0f}), "
        f"training {train_s:,.0f} s; mean episode: {parts}; GPUs busy {busy:.0%}, build cores {cores:.0%}"
    )


def draw(played: dict[int, dict[str, float]], *, train_s: float) -> str:
    """Bars of one step's seconds for each pool, the longest as wide as the picture."""
    rows = {gpus: {**parts, "train": train_s} for gpus, parts in played.items()}
    colours = {**COLOURS, "train": "#54a24b"}
    scale = 700 / max(sum(parts.values()) for parts in rows.values())
    drawn = []
    for row, (gpus, parts) in enumerate(rows.items()):
        y, x = 20 + 60 * row, 150.0
        drawn.append(f'<text x="10" y="{y + 25}">{gpus:,} eval. GPUs</text>')
        for name, seconds in parts.items():
            width = seconds * scale
            title = f"<title>{NAMES[name]}: {seconds:,.0f} s</title>"
            place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="40"'
            drawn.append(f'<rect {place} fill="{colours[name]}">{title}</rect>')
            x += width
        drawn.append(f'<text x="{x + 6:.1f}" y="{y + 25}">{sum(parts.values()):,.0f} s</text>')
    below = 40 + 60 * len(rows)
    for number, (name, colour) in enumerate(colours.items()):
        x, y = 150 + 230 * (number % 3), below + 24 * (number // 3)
        drawn.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{colour}"/>')
        drawn.append(f'<text x="{x + 20}" y="{y + 12}">{NAMES[name]}</text>')
    style = "font: 14px sans-serif; background: white"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {below + 80}" style="{style}">'
    return "\n".join([head, *drawn, "</svg>", ""])


if __name__ == "__main__":
    main()
