"""What the gate said of a task, kept beside the builds: whoever meets the task again need not ask again."""

import hashlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from pydantic import ValidationError

import cuda_agent.judge
from cuda_agent.atomic import write_whole
from cuda_agent.config import find_cache
from cuda_agent.environment.evaluate import Setting
from cuda_agent.judge.result import TaskResult, TaskStatus

LASTING = (TaskStatus.OK, TaskStatus.FLAGGED, TaskStatus.FAULTY)
"""What the gate would say again; memory may be free, and a failure not come, the next time."""
_GATE = ("gatekeeper.py", "cheaper.py", "compare.py", "inputs.py")
"""Files of the judge that decide what the gate says."""


def ask_gate(setting: Setting) -> TaskResult:
    """What the gate says of a setting's task; from the cache, if it is kept.

    Raises:
        InfrastructureError: the judge could not start its process.
    """
    kept = _find_place(setting)
    with suppress(OSError, ValidationError):
        return TaskResult.model_validate_json(kept.read_bytes())
    with setting.open_judge() as judge:
        result = judge.check_task()
    if result.status in LASTING:
        with suppress(OSError):  # a full or read-only disk costs time, and nothing else
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_whole(kept, result.model_dump_json())
    return result


def _find_place(setting: Setting) -> Path:
    """Where the result for exactly this task, target, policy, torch and gate is kept."""
    facts = (setting.task.source, setting.target.value, setting.policy.model_dump_json(), version("torch"))
    digest = hashlib.sha256("\0".join(facts).encode())
    for file in _GATE:
        digest.update(Path(cuda_agent.judge.__path__[0], file).read_bytes())
    return find_cache("gate") / f"{digest.hexdigest()}.json"
