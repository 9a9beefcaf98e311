"""Which episodes are samples, that none is held twice, and a real rollout of an untrained policy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import PromptForm
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.environment.result import Evaluation, RulesResult, RulesStatus
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rl.batch import build_sequence
from cuda_agent.rl.config import ScratchConfig
from cuda_agent.rl.policy import Policy, build_actor
from cuda_agent.rl.rollout import (
    COUNTS,
    EpisodeRollout,
    Loss,
    RolloutCounts,
    RolloutJob,
    RolloutOptions,
    find_loss,
    number_attempts,
)
from cuda_agent.rl.tokenizer import train_tokenizer
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

SCRATCH = ScratchConfig(layers=2, hidden=32, heads=2, intermediate=64, window_tokens=1024)
LIMITS = EpisodeLimits(turns=2, reply_tokens=12, invalid_turns=2, retries=0)
CONFIG = EpisodeConfig(target=Target.CPU, prompt=PromptForm.BRIEF, limits=LIMITS)
BuildPolicy = Callable[[], Policy]


@pytest.fixture
def policy(tiny_task: Task) -> Policy:
    """Untrained, and the same every time."""
    tokenizer: Any = train_tokenizer([tiny_task.source] * 3, 320)
    model = build_actor(SCRATCH, len(tokenizer), seed=0, end_id=tokenizer.eos_token_id)
    return Policy(model, tokenizer)


def build_rollout(folder: Path, sandbox: Sandbox) -> EpisodeRollout:
    options = RolloutOptions(concurrency=2)
    return EpisodeRollout(episode=CONFIG, sandbox=sandbox, folder=folder, options=options)


def build_turn(prompt_ids: tuple[int, ...], completion_ids: tuple[int, ...] = (9,)) -> Turn:
    reply = Reply(
        message=Message(role=Role.ASSISTANT, content="hm"),
        prompt_ids=prompt_ids,
        completion_ids=completion_ids,
        completion_logprobs=(-0.5,) * len(completion_ids),
    )
    return Turn(reply=reply, observations=(), seconds_model=0.0, seconds_tools=0.0)


def build_trajectory(task: Task, number: int = 0, **fields: Any) -> Trajectory:  # noqa: ANN401
    given: dict[str, Any] = {
        "task_id": task.task_id,
        "episode": number,
        "target": Target.CPU,
        "policy": "local",
        "prompt": (),
        "tools": (),
        "turns": (build_turn((1, 2)), build_turn((1, 2, 9, 3))),
        "stop_reason": StopReason.FINISHED,
        "reward": 2.0,
    }
    return Trajectory(**given | fields)


def build_faulty_evaluation(task_id: str) -> Evaluation:
    return Evaluation(
        task_id=task_id,
        submission_sha="0",
        target=Target.CPU,
        policy="strict",
        task=TaskResult(status=TaskStatus.FAULTY, reason="always the same"),
        rules=RulesResult(status=RulesStatus.OK),
    )


def test_a_sample_ends_on_a_generated_token_with_the_reward_on_it(tiny_task: Task) -> None:
    trajectory = build_trajectory(tiny_task)
    assert find_loss(trajectory) is None
    sequence = build_sequence(trajectory)
    assert sequence.ids == (1, 2, 9, 3, 9)
    assert sequence.is_generated == (False, False, True, False, True)


def test_what_says_nothing_of_the_policy_is_no_sample(tiny_task: Task) -> None:
    faulty = build_trajectory(tiny_task, final=build_faulty_evaluation(tiny_task.task_id), reward=0.0)
    assert find_loss(faulty) is Loss.TASK_AT_FAULT
    assert find_loss(build_trajectory(tiny_task, turns=())) is Loss.NOTHING_SAMPLED
    elided = (build_turn((1, 2)), build_turn((1, 5, 9, 3)))
    assert find_loss(build_trajectory(tiny_task, turns=elided)) is Loss.NOT_ONE_SEQUENCE
    failed: dict[str, Any] = {
        "stop_reason": StopReason.POLICY_ERROR,
        "stop_detail": "InfrastructureError: no memory",
    }
    assert find_loss(build_trajectory(tiny_task, **failed)) is Loss.INFRASTRUCTURE
    assert find_loss(None) is Loss.INFRASTRUCTURE


def test_the_policys_own_errors_are_samples(tiny_task: Task) -> None:
    own: dict[str, Any] = {
        "stop_reason": StopReason.POLICY_ERROR,
        "stop_detail": "UserError: too long",
        "reward": -1.0,
    }
    assert find_loss(build_trajectory(tiny_task, **own)) is None


def test_a_task_that_comes_twice_has_two_episodes(tiny_task: Task) -> None:
    other = Task(name="other", source="other")
    keys = [attempt.key for attempt in number_attempts([tiny_task, other, tiny_task])]
    assert keys == [(tiny_task.task_id, 0), (other.task_id, 0), (tiny_task.task_id, 1)]


def test_what_was_held_is_not_held_again_and_losses_are_counted(
    tiny_task: Task, policy: Policy, sandbox: Sandbox, tmp_path: Path
) -> None:
    tasks = (tiny_task, tiny_task, tiny_task)
    with RunDir.create(tmp_path / "ff", RolloutJob(episode=CONFIG, tasks=tasks, seed=255)) as run:
        run.append(TRAJECTORIES, build_trajectory(tiny_task, 2, reward=3.0))
        run.append(TRAJECTORIES, build_trajectory(tiny_task, 0))
        run.append(
            TRAJECTORIES, build_trajectory(tiny_task, 1, final=build_faulty_evaluation(tiny_task.task_id))
        )
    rollout = build_rollout(tmp_path, sandbox)
    samples = rollout(policy, tasks, seed=255)
    assert [(each.episode, each.reward) for each in samples] == [(0, 2.0), (2, 3.0)]
    counts = RolloutCounts.model_validate(json.loads((tmp_path / "ff" / COUNTS).read_text()))
    assert counts == RolloutCounts(episodes=3, samples=2, losses={Loss.TASK_AT_FAULT: 1})


def test_another_rollout_of_the_same_seed_is_refused(
    tiny_task: Task, policy: Policy, sandbox: Sandbox, tmp_path: Path
) -> None:
    with RunDir.create(tmp_path / "1", RolloutJob(episode=CONFIG, tasks=(tiny_task,), seed=1)):
        pass
    with pytest.raises(ConfigError):
        build_rollout(tmp_path, sandbox)(policy, [tiny_task, tiny_task], seed=1)


def test_a_policy_without_a_tokenizer_is_told_so(
    tiny_task: Task, policy: Policy, sandbox: Sandbox, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="no tokenizer"):
        build_rollout(tmp_path, sandbox)(Policy(policy.model), [tiny_task], seed=1)


@pytest.mark.slow
def test_real_episodes_are_the_same_for_the_same_seed_and_each_other_ones(
    tiny_task: Task, policy: Policy, sandbox: Sandbox, tmp_path: Path
) -> None:
    tasks = [tiny_task, tiny_task]
    first = build_rollout(tmp_path / "a", sandbox)(policy, tasks, seed=5)
    again = build_rollout(tmp_path / "b", sandbox)(policy, tasks, seed=5)
    other = build_rollout(tmp_path / "c", sandbox)(policy, tasks, seed=6)

    def read(trajectories: list[Trajectory]) -> list[tuple[int, ...]]:
        return [build_sequence(trajectory).ids for trajectory in trajectories]

    assert read(first) == read(again) != read(other)
    assert len(set(read(first))) == 2
    assert {trajectory.reward for trajectory in first} == {-1.0}
    files = {name for path in tmp_path.rglob("live/*") for name in path.name}
    assert not files, "an episode that is over leaves no live file"
