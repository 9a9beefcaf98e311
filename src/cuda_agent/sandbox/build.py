"""Choose the sandbox that works on this machine."""

import logging
import shutil
import sys
import tempfile
from pathlib import Path

from cuda_agent.errors import CudaAgentError, SandboxError
from cuda_agent.sandbox.bubblewrap import BubblewrapSandbox
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Command, Containment, Limits, Mount, Sandbox

TRIAL_LIMITS = Limits(wall_s=30.0)
MEND = (
    "install it (apt install bubblewrap, dnf install bubblewrap) and allow it to make namespaces (in a "
    "container: --cap-add SYS_ADMIN with seccomp and AppArmor unconfined; on Ubuntu 24.04: an AppArmor "
    "profile for bwrap)"
)

log = logging.getLogger(__name__)


def build_sandbox(containment: Containment = Containment.AUTO) -> Sandbox:
    """The sandbox for this containment, after a real trial run where that can fail.

    Raises:
        SandboxError: bubblewrap was asked for and does not work here; says why and how to mend it.
    """
    if containment is Containment.PROCESS:
        return ProcessSandbox()
    problem = find_bubblewrap_problem()
    if not problem:
        return BubblewrapSandbox()
    if containment is Containment.BUBBLEWRAP:
        raise SandboxError(f"bubblewrap does not work here: {problem}; {MEND}")
    log.warning(
        "UNTRUSTED CODE WILL RUN WITHOUT FILE OR NETWORK ISOLATION: bubblewrap does not work here (%s). "
        "To mend it: %s.",
        problem,
        MEND,
    )
    return ProcessSandbox()


def find_bubblewrap_problem() -> str:
    """Why bubblewrap cannot run this interpreter here; empty when a trial run worked."""
    missing = [name for name in ("bwrap", "setpriv", "choom", "prlimit") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} not found"
    with tempfile.TemporaryDirectory(prefix="cuda-agent-trial-") as folder:
        command = Command(
            argv=[sys.executable, "-c", "import cuda_agent.sandbox"],
            cwd=Path(folder),
            mounts=[Mount(path=Path(folder))],
            limits=TRIAL_LIMITS,
        )
        try:
            completed = BubblewrapSandbox().run(command)
        except (CudaAgentError, OSError) as error:
            return str(error)
    if completed.returncode == 0:
        return ""
    return completed.stderr.strip() or "the trial run did not end in time"
