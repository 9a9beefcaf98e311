"""Which of a run's tasks are worth an episode: those that the judge would refuse are named, and left out.

What the gate said of a task is kept beside the builds, so that further runs of it do not ask again.
"""

import hashlib
import os
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

import cuda_agent.judge
from cuda_agent.agent.job import Job
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.render import render_task
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.printable import make_printable
from cuda_agent.sandbox.protocol import Sandbox

_LASTING = (TaskStatus.OK, TaskStatus.FLAGGED, TaskStatus.FAULTY)
"""What the gate would say again; memory may be free, and a failure not come, the next time."""
_GATE = ("gatekeeper.py", "cheaper.py", "compare.py", "inputs.py")
"""Files of the judge that decide what the gate says."""


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
    result = _check(setting)
    for line in render_task(result):
        print(make_printable(f"{setting.task.task_id}: {line}"), flush=True)
    return result.is_judged


def _check(setting: Setting) -> TaskResult:
    kept = _find_place(setting)
    with suppress(OSError, ValidationError):
        return TaskResult.model_validate_json(kept.read_bytes())
    with setting.open_judge() as judge:
        result = judge.check_task()
    if result.status in _LASTING:
        with suppress(OSError):  # a full or read-only disk costs time, and nothing else
            kept.parent.mkdir(parents=True, exist_ok=True)
            fresh = kept.with_suffix(f".{os.getpid()}")
            fresh.write_text(result.model_dump_json(), encoding="utf-8")
            fresh.replace(kept)
    return result


def _find_place(setting: Setting) -> Path:
    """Where the result for exactly this task, target, policy, torch and gate is kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    facts = (setting.task.source, setting.target.value, setting.policy.model_dump_json(), version("torch"))
    digest = hashlib.sha256("\0".join(facts).encode())
    for file in _GATE:
        digest.update(Path(cuda_agent.judge.__path__[0], file).read_bytes())
    return root / "cuda-agent" / "gate" / f"{digest.hexdigest()}.json"
