"""A trajectory as a trainer wants it; a failing machine is tried again, and never the policy's fault."""

import asyncio
from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema
from cuda_agent.rl.verl_adapter.episode import ATTEMPTS, Hosting, build_agent_episode, hold_episode
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def make_turn(prompt: tuple[int, ...], completion: tuple[int, ...], *, elided: int = 0) -> Turn:
    reply = Reply(
        message=Message(role=Role.ASSISTANT, content=""),
        prompt_ids=prompt,
        completion_ids=completion,
        completion_logprobs=tuple(-0.5 for _ in completion),
    )
    return Turn(reply=reply, observations=(), seconds_model=2.0, seconds_tools=1.0, elided=elided)


def make_trajectory(*turns: Turn, stop_reason: StopReason = StopReason.FINISHED) -> Trajectory:
    return Trajectory(
        task_id="tiny",
        target=Target.CPU,
        policy="engine",
        prompt=(),
        tools=(),
        turns=turns,
        stop_reason=stop_reason,
        reward=2.0,
    )


FIRST, SECOND = make_turn((1, 2), (3, 4)), make_turn((1, 2, 3, 4, 5), (6,))


def test_prompt_response_and_mask() -> None:
    episode = build_agent_episode(make_trajectory(FIRST, SECOND), response_tokens=10)
    assert episode.prompt_ids == (1, 2)
    assert episode.response_ids == (3, 4, 5, 6)
    assert episode.response_mask == (1, 1, 0, 1)
    assert episode.response_logprobs == (-0.5, -0.5, 0.0, -0.5)
    assert (episode.reward, episode.turns, episode.is_cut) == (2.0, 2, False)
    assert (episode.generate_s, episode.tools_s) == (4.0, 2.0)


@pytest.mark.parametrize(("room", "kept"), [(4, (3, 4, 5, 6)), (3, (3, 4)), (2, (3, 4)), (1, (3,))])
def test_it_always_ends_on_a_generated_token(room: int, kept: tuple[int, ...]) -> None:
    episode = build_agent_episode(make_trajectory(FIRST, SECOND), response_tokens=room)
    assert episode.response_ids == kept
    assert episode.response_mask[-1] == 1
    assert episode.is_cut is (room < 4)


def test_it_ends_where_old_output_was_left_out() -> None:
    elided = make_turn((1, 2, 9), (6,), elided=1)
    episode = build_agent_episode(make_trajectory(FIRST, elided), response_tokens=10)
    assert episode.response_ids == (3, 4)
    assert (episode.turns, episode.is_cut) == (1, True)


def test_a_dead_engine_earns_no_reward() -> None:
    dead = make_trajectory(FIRST, stop_reason=StopReason.POLICY_ERROR)
    with pytest.raises(InfrastructureError, match="tiny: no usable reply"):
        build_agent_episode(dead, response_tokens=10)


class FailingChat:
    """Fails so often, and then says that it is done."""

    name = "failing"

    def __init__(self, failures: int) -> None:
        self.asked = 0
        self.failures = failures

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        self.asked += 1
        if self.asked <= self.failures:
            raise InfrastructureError("gone")
        return make_turn((1, 2), (3,)).reply


def hold(tiny_task: Task, tmp_path: Path, *, chat: FailingChat) -> float:
    config = EpisodeConfig(target=Target.CPU, limits=EpisodeLimits(retries=0))
    hosting = Hosting(episode=config, out=tmp_path / "rollouts", response_tokens=10)
    return asyncio.run(hold_episode(tiny_task, hosting, build_chat=lambda: chat)).reward


def test_a_machine_that_recovers_costs_nothing(tiny_task: Task, tmp_path: Path) -> None:
    assert hold(tiny_task, tmp_path, chat=FailingChat(ATTEMPTS - 1)) == -1.0  # nothing was submitted
    assert len(list((tmp_path / "rollouts").iterdir())) == ATTEMPTS


def test_a_machine_that_does_not_is_told(tiny_task: Task, tmp_path: Path) -> None:
    chat = FailingChat(ATTEMPTS)
    with pytest.raises(InfrastructureError, match="gone"):
        hold(tiny_task, tmp_path, chat=chat)
    assert chat.asked == ATTEMPTS
