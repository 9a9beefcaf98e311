"""Outcomes are combined task by task, and the best episode stands for its task."""

from collections.abc import Callable

from cuda_agent.agent.outcome import JobOutcome, Outcome, combine, summarise
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.environment.result import Evaluation
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.llm.chat import Message, Reply, Role, Usage
from cuda_agent.tasks.target import Target

BuildEvaluation = Callable[[str, float | None], Evaluation]


def build_outcome(task_id: str, episode: int, *, reward: float, final: Evaluation | None = None) -> Outcome:
    return Outcome(
        task_id=task_id,
        episode=episode,
        stop_reason=StopReason.FINISHED,
        stop_detail="",
        turns=1,
        usage=Usage(),
        submissions=0,
        final=final,
        reward=reward,
        seconds=1.0,
    )


def test_the_best_episode_stands_for_its_task(build_evaluation: BuildEvaluation) -> None:
    outcomes = [
        build_outcome("a", 1, reward=3.0, final=build_evaluation("slower", 1.2)),
        build_outcome("b", 0, reward=-1.0),
        build_outcome("a", 0, reward=3.0, final=build_evaluation("faster", 1.9)),
        build_outcome("a", 2, reward=-1.0, final=build_evaluation("wrong", None)),
        build_outcome("a", 3, reward=-1.0),
    ]
    result = combine(outcomes, failures={"c": "gone"})
    first, second = result.tasks
    assert first.best == outcomes[2]
    assert first.rewards == (3.0, 3.0, -1.0, -1.0)
    assert first.pass_at_k == {1: 0.5, 2: 1.0 - 1.0 / 6.0, 4: 1.0}
    assert first.best_of_k == {1: 1.0, 2: (5 * 3.0 - 1.0) / 6.0, 4: 3.0}
    assert second.pass_at_k == {1: 0.0}
    assert result.pass_at_k == {1: 0.25, 2: first.pass_at_k[2], 4: 1.0}
    assert result.best_of_k[1] == 0.0
    assert JobOutcome.model_validate_json(result.model_dump_json()) == result


def test_an_episode_that_met_a_task_at_fault_counts_neither_for_nor_against(
    build_evaluation: BuildEvaluation,
) -> None:
    refused = TaskResult(status=TaskStatus.DOES_NOT_FIT, reason="no room")
    unjudged = build_evaluation("unjudged", None).model_copy(update={"task": refused})
    outcomes = [
        build_outcome("a", 0, reward=3.0, final=build_evaluation("fast", 1.9)),
        build_outcome("a", 1, reward=0.0, final=unjudged),
        build_outcome("b", 0, reward=0.0, final=unjudged),
    ]
    result = combine(outcomes, failures={})
    first, second = result.tasks
    assert first.rewards == (3.0, 0.0)
    assert (first.pass_at_k, first.best_of_k) == ({1: 1.0}, {1: 3.0})
    assert (second.pass_at_k, second.best_of_k) == ({}, {})
    assert (result.pass_at_k, result.best_of_k) == ({1: 1.0}, {1: 3.0})


def test_a_trajectory_is_summarised() -> None:
    message = Message(role=Role.ASSISTANT, content="x")
    turn = Turn(
        reply=Reply(message=message, usage=Usage(completion_tokens=7, cost=0.25)),
        observations=(),
        seconds_model=0.0,
        seconds_tools=0.0,
    )
    trajectory = Trajectory(
        task_id="t",
        episode=4,
        target=Target.CPU,
        policy="p",
        prompt=(),
        tools=(),
        turns=(turn, turn),
        stop_reason=StopReason.STUCK,
        stop_detail="why",
    )
    outcome = summarise(trajectory)
    assert (outcome.episode, outcome.turns, outcome.usage.completion_tokens) == (4, 2, 14)
    assert (outcome.stop_reason, outcome.stop_detail) == (StopReason.STUCK, "why")
    assert not outcome.is_verified
    assert combine([outcome, outcome], failures={}).usage == Usage(completion_tokens=28, cost=1.0)
    assert combine([], failures={}).tasks == ()
