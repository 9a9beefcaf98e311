"""Which of a run's tasks are worth an episode: those that the judge would refuse are named, and left out."""

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.job import Job
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.gate_cache import LASTING, ask_gate
from cuda_agent.environment.render import render_task
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import TaskResult
from cuda_agent.printable import make_printable
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.workers.cores import count_cores

MOST_AT_ONCE = 8
"""How many tasks are put before the gate at once, at most: each is a process with torch in it."""
LOOKING = "looking whether the tasks are worth judging"


@dataclass(frozen=True)
class Admitted:
    """What the gate made of a job."""

    job: Job
    """The job with those of its tasks that are judged."""
    refused: dict[str, TaskResult]
    """What the gate says of the others, by task id."""


def admit_job(job: Job, *, sandbox: Sandbox, console: Console) -> Admitted:
    """Put a job's tasks before the gate, several at once, and tell what it says unless that is simply yes.

    Raises:
        UserError: not one of them is judged.
        InfrastructureError: the judge could not start its process.
    """
    policy = load_policy(job.episode.judge)
    settings = [
        Setting(task=task, target=job.episode.target, sandbox=sandbox, policy=policy) for task in job.tasks
    ]
    results: dict[str, TaskResult] = {}
    with console.status(LOOKING) as status, closing(_ask(settings)) as answers:
        for setting, result in answers:
            results[setting.task.task_id] = result
            status.update(f"{LOOKING}: {len(results)} of {len(settings)}")
            for line in render_task(result):
                print(make_printable(f"{setting.task.task_id}: {line}"), flush=True)
    found = [(task, results[task.task_id]) for task in job.tasks]
    admitted = tuple(task for task, result in found if result.is_judged)
    if not admitted:
        raise UserError("no task is worth judging (the lines above say why): mend the tasks")
    refused = {task.task_id: result for task, result in found if not result.is_judged}
    return Admitted(job.replace(tasks=admitted), refused)


def _ask(settings: Sequence[Setting]) -> Generator[tuple[Setting, TaskResult], None, None]:
    """What the gate says of each; where it could not tell beside others, it is asked once more, alone."""
    at_once = max(1, min(MOST_AT_ONCE, count_cores() // 2, len(settings)))
    interruption, unsure = Interruption(), []
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="gate")
    try:
        answers = pool.map(lambda each: interruption.call(partial(ask_gate, each)), settings)
        for setting, result in zip(settings, answers, strict=True):
            if at_once > 1 and result.status not in LASTING:
                unsure.append(setting)
            else:
                yield setting, result
    finally:
        # Whoever interrupts this waits for nobody.
        interruption.set()
        pool.shutdown(cancel_futures=True)
    for setting in unsure:
        yield setting, ask_gate(setting)
