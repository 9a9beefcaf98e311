"""PPO on a world of a dozen tokens: it learns, it can be stopped and resumed, and it notices a collapse."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cuda_agent.agent.trajectory import StopReason
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.llm.chat import FinishReason
from cuda_agent.rl.config import CollapseConfig, OptimiserConfig, PpoConfig
from cuda_agent.rl.policy import build_critic
from cuda_agent.rl.ppo import Ppo, is_cut, measure_outcomes
from cuda_agent.rl.training import METRICS, SAMPLES, End, SampleRecord, StepRecord, run_stage
from cuda_agent.rundir import RunDir
from tests.evaluations import build_passed, build_refused
from tests.rl.toy import TASKS, ToyRollout, build_policy, build_trajectory, build_turn

CONFIG = PpoConfig(
    steps=6, batch=24, micro_batch=24, device="cpu", epochs=2, minibatches=2, save_every=2, show_every=3,
    actor=OptimiserConfig(learning_rate=1e-2), critic=OptimiserConfig(learning_rate=1e-2),
    collapse=CollapseConfig(entropy_floor=0.0),
)  # fmt: skip

FLOOR = {"floor/log_ratio_abs_mean", "floor/ratio_max"}
"""Figures of rare tokens, where there may be none."""


def build_stage(config: PpoConfig, *, weights: int = 0) -> Ppo:
    policy = build_policy(weights)
    critic = build_critic(policy.model, seed=weights)
    return Ppo(config, policy, critic=critic, tasks=TASKS, rollout=ToyRollout())


def train(
    path: Path, config: PpoConfig, *, weights: int = 0, last: int | None = None
) -> tuple[End, list[Tensor]]:
    """Begin a run or go on with it, up to a step after which it is interrupted."""

    def interrupt(record: StepRecord) -> None:
        if record.step == last:
            raise KeyboardInterrupt

    stage = build_stage(config, weights=weights)
    begin = RunDir.resume if path.exists() else RunDir.create
    with begin(path, config) as run:
        end = run_stage(stage, run, observe=interrupt)
    return end, [weight for one in stage.learners.values() for weight in one.model.parameters()]


def read_curve(path: Path) -> list[dict[str, float]]:
    """The figures of all steps but times."""
    with RunDir.resume(path, CONFIG) as run:
        records = run.read(METRICS, StepRecord)
        assert [sample.step for sample in run.read(SAMPLES, SampleRecord)] == [0] * 4 + [3] * 4
    assert [record.step for record in records] == list(range(CONFIG.steps))
    return [
        {name: value for name, value in record.metrics.items() if not name.startswith("timing_s")}
        for record in records
    ]


def test_a_run_stopped_and_resumed_gives_the_same_curve_bit_for_bit(tmp_path: Path) -> None:
    end, weights = train(tmp_path / "whole", CONFIG)
    assert end == End(6)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "parts", CONFIG, last=4)
    torch.rand(7)
    _, resumed = train(tmp_path / "parts", CONFIG, weights=5)
    curve = read_curve(tmp_path / "whole")
    assert str(read_curve(tmp_path / "parts")) == str(curve)  # as text, where NaN is NaN
    assert {name for name, value in curve[-1].items() if not math.isfinite(value)} <= FLOOR
    assert all(torch.equal(mine, its) for mine, its in zip(weights, resumed, strict=True))
    assert max(step["training/rollout_probs_diff_max"] for step in curve) < 1e-5
    again, _ = train(tmp_path / "whole", CONFIG)
    assert again == End(6)
    with pytest.raises(ConfigError, match="steps: 6, now 7"):
        train(tmp_path / "whole", CONFIG.replace(steps=7))


def test_the_reward_rises(tmp_path: Path) -> None:
    config = CONFIG.replace(steps=14, save_every=100)
    train(tmp_path / "run", config)
    with RunDir.resume(tmp_path / "run", config) as run:
        rewards = [record.metrics["critic/rewards/mean"] for record in run.read(METRICS, StepRecord)]
    assert sum(rewards[:3]) / 3 < -0.5
    assert sum(rewards[-3:]) / 3 > 0.3


def test_a_collapse_stops_the_run_and_says_why(tmp_path: Path) -> None:
    config = CONFIG.replace(collapse=CollapseConfig(window=1, entropy_floor=10.0))
    end, _ = train(tmp_path / "run", config)
    assert end.steps == 2
    assert end.reason.startswith("the entropy is 2.")
    assert train(tmp_path / "run", config)[0] == end


def test_a_rollout_without_episodes_is_an_error() -> None:
    stage = Ppo(
        CONFIG, build_policy(), critic=build_stage(CONFIG).learners["critic"].model, tasks=TASKS,
        rollout=lambda policy, tasks, *, seed: [],
    )  # fmt: skip
    with pytest.raises(UserError, match="held no episode with a reply"):
        stage.take_step(0)


def test_no_tasks_are_an_error() -> None:
    policy = build_policy()
    critic = build_critic(policy.model, seed=0)
    with pytest.raises(UserError, match="needs a task"):
        Ppo(CONFIG, policy, critic=critic, tasks=(), rollout=ToyRollout())


def test_what_counts_as_cut_by_length() -> None:
    turn = build_turn((0,), (1,), logprobs=(0.0,))
    whole = build_trajectory(turn)
    assert not is_cut(whole)
    assert is_cut(whole.model_copy(update={"stop_reason": StopReason.MAX_TOKENS}))
    reply = turn.reply.model_copy(update={"finish_reason": FinishReason.LENGTH})
    assert is_cut(build_trajectory(turn.model_copy(update={"reply": reply})))


def test_shares_of_right_and_of_fast_episodes() -> None:
    task, files = TASKS[0], Submission({"model_new.py": b""})
    finals = (
        build_passed(task, files, speedup=2.0),  # 3
        build_passed(task, files, speedup=0.9),  # 2: over eager it is 2.7
        build_refused(task, files),
        None,
    )
    episodes = [build_trajectory(reward=-1.0).model_copy(update={"final": final}) for final in finals]
    assert measure_outcomes(episodes) == {"reward/pass_rate": 0.5, "reward/faster_rate": 0.25}
