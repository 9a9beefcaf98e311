"""What counts in the end, and what is on the disk meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.record import TRAJECTORIES, EpisodeRecord
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.environment.environment import Environment, Judged
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.policy import load_policy
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

BuildEvaluation = Callable[[str, float | None], Evaluation]
TURN = Turn(
    reply=Reply(message=Message(role=Role.ASSISTANT, content="hm")),
    observations=(),
    seconds_model=0.0,
    seconds_tools=0.0,
)
LIVE = "live/t-9f86d081-0.jsonl"


class StandingEnvironment(Environment):
    """An environment whose judgements are given, and which may fail before it judges again."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        super().__init__(
            Task(name="t", source="test"),
            target=Target.CPU,
            sandbox=sandbox,
            policy=load_policy("strict"),
            folder=folder,
        )
        self.given: list[Judged] = []
        self.failures = 0
        self.fresh: Evaluation | None = None
        self.fresh_by_sha: dict[str, Evaluation] = {}
        self.asked: list[Submission] = []

    @property
    def submissions(self) -> tuple[Judged, ...]:
        return tuple(self.given)

    def judge_again(self, submission: Submission, *, until: Stage = Stage.PROFILE) -> Evaluation:
        self.asked.append(submission)
        if len(self.asked) <= self.failures:
            raise InfrastructureError("no memory")
        fresh = self.fresh_by_sha.get(submission.sha, self.fresh)
        assert fresh is not None
        return fresh


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """An open run."""
    return RunDir.create(tmp_path / "run", EpisodeConfig(target=Target.CPU))


@pytest.fixture
def environment(sandbox: Sandbox, run: RunDir) -> StandingEnvironment:
    """An environment without a judge."""
    return StandingEnvironment(sandbox, run.path)


def submit(environment: StandingEnvironment, *, text: str, evaluation: Evaluation) -> Submission:
    submission = Submission({"model_new.py": text.encode()})
    environment.given.append(Judged(submission, evaluation))
    return submission


def test_nothing_submitted_is_no_evaluation(environment: StandingEnvironment, run: RunDir) -> None:
    record = EpisodeRecord(environment, run=run, on_turn=lambda _: None)
    record.add(TURN)
    assert record.judge_finally(retries=0) is None
    assert record.compute_reward(None) == -1.0


def test_the_only_submission_counts_as_it_was_judged(
    environment: StandingEnvironment, run: RunDir, build_evaluation: BuildEvaluation
) -> None:
    record = EpisodeRecord(environment, run=run, on_turn=lambda _: None)
    record.add(TURN)
    submit(environment, text="a", evaluation=build_evaluation("a", 1.2))
    record.add(TURN)
    assert record.judge_finally(retries=0) == build_evaluation("a", 1.2)
    assert environment.asked == []
    assert [(found.turn, found.reward) for found in record.submissions] == [(1, 3.0)]


def test_the_best_of_several_is_judged_afresh(
    environment: StandingEnvironment, run: RunDir, build_evaluation: BuildEvaluation
) -> None:
    record = EpisodeRecord(environment, run=run, on_turn=lambda _: None)
    submit(environment, text="slow", evaluation=build_evaluation("slow", 1.1))
    best = submit(environment, text="best", evaluation=build_evaluation("best", 1.5))
    submit(environment, text="wrong", evaluation=build_evaluation("wrong", None))
    record.add(TURN)
    environment.fresh = build_evaluation("best", 1.02)
    assert record.judge_finally(retries=0) == environment.fresh
    assert environment.asked == [best]
    assert record.compute_reward(environment.fresh) == 1.0


def test_when_the_best_fails_afresh_the_next_best_has_its_turn(
    environment: StandingEnvironment, run: RunDir, build_evaluation: BuildEvaluation
) -> None:
    record = EpisodeRecord(environment, run=run, on_turn=lambda _: None)
    third = submit(environment, text="third", evaluation=build_evaluation("third", 1.2))
    best = submit(environment, text="best", evaluation=build_evaluation("best", 1.5))
    second = submit(environment, text="second", evaluation=build_evaluation("second", 1.4))
    submit(environment, text="second", evaluation=build_evaluation("second", 1.3))
    submit(environment, text="last", evaluation=build_evaluation("last", None))
    record.add(TURN)
    environment.fresh = build_evaluation("best", None)
    environment.fresh_by_sha[third.sha] = build_evaluation("third", 1.1)
    final = record.judge_finally(retries=0)
    assert environment.asked == [best, second, third]
    assert final == environment.fresh_by_sha[third.sha]
    environment.fresh_by_sha.clear()
    assert record.judge_finally(retries=0) == environment.fresh


def test_final_judging_is_tried_again_a_bounded_number_of_times(
    environment: StandingEnvironment, run: RunDir, build_evaluation: BuildEvaluation
) -> None:
    record = EpisodeRecord(environment, run=run, on_turn=lambda _: None)
    for text in "ab":
        submit(environment, text=text, evaluation=build_evaluation(text, None))
    record.add(TURN)
    environment.fresh = build_evaluation("a", None)
    environment.failures = 2
    assert record.judge_finally(retries=2) == environment.fresh
    assert len(environment.asked) == 3
    environment.failures = 9
    with pytest.raises(InfrastructureError):
        record.judge_finally(retries=2)
    assert len(environment.asked) == 6


def test_turns_are_on_the_disk_until_the_whole_is(
    environment: StandingEnvironment, run: RunDir, build_evaluation: BuildEvaluation
) -> None:
    seen: list[Turn] = []
    record = EpisodeRecord(environment, run=run, on_turn=seen.append)
    record.add(TURN)
    record.add(TURN)
    assert seen == [TURN, TURN]
    assert run.read(LIVE, Turn) == (TURN, TURN)
    again = EpisodeRecord(environment, run=run, on_turn=seen.append)
    assert run.read(LIVE, Turn) == ()
    again.add(TURN)
    final = build_evaluation("a", 1.2)
    trajectory = Trajectory(
        task_id="t-9f86d081",
        target=Target.CPU,
        policy="p",
        prompt=(),
        tools=(),
        turns=(TURN,),
        stop_reason=StopReason.FINISHED,
        final=final,
    )
    again.finish(trajectory)
    assert not (run.path / LIVE).exists()
    assert run.read(TRAJECTORIES, Trajectory) == (trajectory,)
