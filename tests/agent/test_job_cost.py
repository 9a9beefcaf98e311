"""Many episodes at once neither wait for each other for ever nor cost much themselves."""

from pathlib import Path

import pytest

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from scripts.loop_cost import CostConfig, compute_own_ms, measure_cost

MOST_MS = 20.0
"""What a turn may cost beside model and tools."""


def test_what_is_neither_thought_nor_tool_is_the_loops_own() -> None:
    reply = Reply(message=Message(role=Role.ASSISTANT, content="1.5"))
    turn = Turn(reply=reply, observations=(), seconds_model=1.6, seconds_tools=0.25)
    trajectory = Trajectory(
        task_id="t",
        target=Target.CPU,
        policy="p",
        prompt=(),
        tools=(),
        turns=(turn, turn),
        stop_reason=StopReason.FINISHED,
        seconds=3.75,
    )
    assert compute_own_ms(trajectory) == pytest.approx(125.0)


@pytest.mark.slow
@pytest.mark.timing
def test_64_episodes_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    cost = measure_cost(CostConfig(), sandbox, tmp_path / "run")
    assert cost.turns == 64 * 20
    assert cost.own_ms_median < MOST_MS
