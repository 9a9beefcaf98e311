"""The page of training: curves over steps, stages in one line, runs laid over each other."""

from collections.abc import Iterator, Sequence
from typing import Any

from cuda_agent.report.charts import Chart, ChartKind, Mark, Series
from cuda_agent.report.episodes import SHOWN_EPISODES, name_episode
from cuda_agent.report.material import EpisodeFound, Material, Training
from cuda_agent.report.page import Page

FIGURES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "reward",
        "Reward",
        "Mean reward of an episode",
        ("critic/rewards/mean", "critic/score/mean", "reward/mean"),
    ),
    ("passed", "Pass rate", "Share of episodes that are right", ("reward/pass_rate", "val-core/pass_rate")),
    (
        "faster",
        "Faster than torch.compile",
        "Share of episodes",
        ("reward/faster_rate", "reward/beats_compile_rate"),
    ),
    (
        "entropy",
        "Entropy",
        "Nats a token; a collapse shows here first",
        ("actor/entropy", "actor/entropy_loss"),
    ),
    ("kl", "KL", "Mean of -log ratio between two updates", ("actor/ppo_kl",)),
    ("clipped", "Clip share", "Share of tokens whose ratio is clipped", ("actor/pg_clipfrac",)),
    ("ratio_max", "Largest ratio", "New over old probability of a token", ("actor/ratio_max",)),
    ("ratio_min", "Smallest ratio", "New over old probability of a token", ("actor/ratio_min",)),
    (
        "explained",
        "Explained variance",
        "1 is perfect, 0 no better than the mean",
        ("critic/vf_explained_var",),
    ),
    ("length", "Episode length", "Tokens of a response", ("response_length/mean",)),
    ("cut", "Cut episodes", "Share that ran into the length limit", ("response_length/clip_ratio",)),
    ("loss", "Loss", "What a stage of imitation makes small", ("train/loss",)),
    ("turns", "Turns", "Turns of an episode", ("num_turns/mean", "rollout/turns/mean")),
    ("step_seconds", "Time of a step", "Wall-clock seconds, saving left out", ("seconds",)),
)
"""The curves that the page knows by name: key, title, what it means, and what it is called in a log."""
PREFIXES = (
    ("mismatch", "Sampling against training", "rollout_corr/"),
    ("seconds", "Time breakdown", "timing_s/"),
)
"""Families of figures, each in one chart."""
SAMPLES = 12
"""How many episodes over training are named."""


def build_training_page(material: Material) -> Page:
    """Each figure's curve with one line a run; other figures follow below the known ones."""
    trainings = material.trainings
    missing = (
        ()
        if trainings
        else ("No training run was found, so there are no curves: `cuda-agent train` leaves them.",)
    )
    return Page(
        name="training",
        template="training",
        title="Training",
        lead="Four stages: single-turn PPO, rejection fine-tuning, value pretraining, agentic PPO.",
        data={
            "runs": [_describe(each) for each in trainings],
            "samples": _choose_samples(material.episodes, trainings),
        },
        charts=dict(_iterate_charts(trainings)),
        missing=missing,
        is_empty=not trainings,
    )


def _iterate_charts(trainings: Sequence[Training]) -> Iterator[tuple[str, Chart]]:
    shown = {"step"}
    for key, title, meaning, names in FIGURES:
        series = [
            line for each in trainings for name in names if (line := _build_line(each, name, label=each.run))
        ]
        shown |= set(names)
        if series:
            yield key, _build_chart(title, series, meaning=meaning, stages=trainings)
    for key, title, prefix in PREFIXES:
        family = sorted(
            {name for each in trainings for step in each.steps for name in step if name.startswith(prefix)}
        )
        shown |= set(family)
        series = [
            line
            for each in trainings
            for name in family
            if (line := _build_line(each, name, label=_name_line(each, name, prefix=prefix, of=trainings)))
        ]
        if series:
            yield key, _build_chart(title, series, meaning=prefix.rstrip("/"), stages=trainings)
    others = sorted({name for each in trainings for step in each.steps for name in step} - shown)
    for number, name in enumerate(others):
        series = [line for each in trainings if (line := _build_line(each, name, label=each.run))]
        yield f"other{number}", _build_chart(name, series, meaning=name, stages=trainings)


def _name_line(training: Training, name: str, *, prefix: str, of: Sequence[Training]) -> str:
    short = name.removeprefix(prefix)
    return short if len(of) == 1 else f"{training.run}: {short}"


def _build_line(training: Training, name: str, *, label: str) -> Series | None:
    points = [(step["step"], step[name]) for step in training.steps if name in step]
    if not points:
        return None
    xs, ys = zip(*points, strict=True)
    return Series(name=label, xs=xs, ys=ys)


def _build_chart(title: str, series: Sequence[Series], *, meaning: str, stages: Sequence[Training]) -> Chart:
    counts = ", ".join(f"{line.name} {len(line.xs)}" for line in series)
    return Chart(
        kind=ChartKind.LINES,
        title=title,
        caption=f"{meaning}; one value a step, not smoothed, no interval: one run each. Steps: {counts}.",
        series=tuple(series),
        x_label="step",
        marks=tuple(_mark_stages(stages[0])) if len(stages) == 1 else (),
    )


def _mark_stages(training: Training) -> Iterator[Mark]:
    """Where each stage but the first begins."""
    before = None
    for step, stage in zip(training.steps, training.stages, strict=True):
        if before is not None and stage != before:
            yield Mark(axis="x", value=step["step"], label=stage)
        before = stage


def _describe(training: Training) -> dict[str, Any]:
    """A run's last step, and the stages in the order they came."""
    last: dict[str, float] = {}
    for step in training.steps:
        last |= step
    return {
        "run": training.run,
        "steps": len(training.steps),
        "stages": [stage for stage in dict.fromkeys(training.stages) if stage],
        "last": last,
    }


def _choose_samples(episodes: Sequence[EpisodeFound], trainings: Sequence[Training]) -> list[dict[str, Any]]:
    """Episodes of training runs, the first and the last and others spread evenly between them."""
    runs = {training.run.partition("/")[0] for training in trainings}
    own = [each for each in episodes[:SHOWN_EPISODES] if each.run.partition("/")[0] in runs]
    count = min(len(own), SAMPLES)
    chosen = [own[round(index * (len(own) - 1) / max(1, count - 1))] for index in range(count)]
    return [
        {
            "run": each.run,
            "step": each.step,
            "task": each.trajectory.task_id,
            "number": each.trajectory.episode + 1,
            "reward": each.trajectory.reward,
            "turns": len(each.trajectory.turns),
            "href": f"{name_episode(each)}.html",
        }
        for each in chosen
    ]
