"""Kernel limits on every process of an untrusted command."""

import resource

from cuda_agent.sandbox.protocol import Limits

OPEN_FILES = 4096
"""Enough for any compiler or runner, too few to exhaust the machine's table."""


def compute_rlimits(limits: Limits) -> dict[str, int]:
    """Soft and hard value of each limit, by prlimit's name; never above what we may set ourselves."""
    wanted = {
        "nproc": (resource.RLIMIT_NPROC, limits.processes),
        "fsize": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "nofile": (resource.RLIMIT_NOFILE, OPEN_FILES),
        "core": (resource.RLIMIT_CORE, 0),
    }
    if limits.memory_bytes is not None:
        wanted["as"] = (resource.RLIMIT_AS, limits.memory_bytes)
    return {name: _clamp(kind, value) for name, (kind, value) in wanted.items()}


def _clamp(kind: int, value: int) -> int:
    _, hard = resource.getrlimit(kind)
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
