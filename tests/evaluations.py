"""Evaluations as a judge writes them, for tests that need one and no judge."""

from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Ratio, Timing, VerifyResult, VerifyStatus
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def build_passed(task: Task, submission: Submission, *, speedup: float = 2.0) -> Evaluation:
    """A submission that passed, `speedup` times as fast as torch.compile and thrice that over eager."""
    return Evaluation(
        task_id=task.task_id,
        submission_sha=submission.sha,
        target=Target.CPU,
        policy="strict",
        rules=RulesResult(status=RulesStatus.OK),
        build=BuildResult(status=BuildStatus.OK),
        verify=VerifyResult(status=VerifyStatus.OK, draws=5),
        profile=ProfileResult(
            status=ProfileStatus.OK,
            candidate=Timing(median_ms=1.5, calls_ms=(1.4, 1.5, 1.6)),
            eager=Timing(median_ms=4.5 * speedup, calls_ms=(4.5 * speedup,)),
            compiled=Timing(median_ms=1.5 * speedup, calls_ms=(1.5 * speedup,)),
            over_eager=Ratio(point=3 * speedup, low=2.9 * speedup, high=3.1 * speedup),
            over_compiled=Ratio(point=speedup, low=0.95 * speedup, high=1.05 * speedup),
            device="Some Processor, 2 cores",
            versions={"torch": "2.13.0"},
            method="wall clock, 60 calls",
        ),
    )


def build_refused(task: Task, submission: Submission) -> Evaluation:
    """A submission that broke a rule."""
    return Evaluation(
        task_id=task.task_id,
        submission_sha=submission.sha,
        target=Target.CPU,
        policy="strict",
        rules=RulesResult(status=RulesStatus.VIOLATION, reason="it calls torch.relu"),
    )
