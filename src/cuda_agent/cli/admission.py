"""Which of a run's tasks are worth an episode: those that the judge would refuse are named, and left out."""

from cuda_agent.agent.job import Job
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.render import render_task
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.printable import make_printable
from cuda_agent.sandbox.protocol import Sandbox


def admit_job(job: Job, sandbox: Sandbox) -> Job:
    """The job with those of its tasks that are judged.

    Raises:
        UserError: not one of them is.
        InfrastructureError: the judge could not start its process.
    """
    policy = load_policy(job.episode.judge)
    settings = [
        Setting(task=task, target=job.episode.target, sandbox=sandbox, policy=policy) for task in job.tasks
    ]
    admitted = tuple(setting.task for setting in settings if _admit(setting))
    if not admitted:
        raise UserError("no task is worth judging (the lines above say why): mend the tasks")
    return job.replace(tasks=admitted)


def _admit(setting: Setting) -> bool:
    """Whether a setting's task is judged; prints what the gate says of it, if that is not simply yes."""
    with setting.open_judge() as judge:
        result = judge.check_task()
    for line in render_task(result):
        print(make_printable(f"{setting.task.task_id}: {line}"), flush=True)
    return result.is_judged
