"""How much of this machine is ours: cores and processes, as affinity and control groups allow.

A container may see sixty-four cores, be given the time of four, and be allowed a hundred processes.
"""

import math
import os
from contextlib import suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
PROCESSES_A_JOB = 16
"""What one compiler run may need: its driver, its parts, and the sandbox around them."""


def count_cores(root: Path = CGROUPS) -> int:
    """Cores that we may keep busy, at least one: our affinity, less where a control group gives less time."""
    cores = len(os.sched_getaffinity(0))
    for folder in _list_groups(root):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if quota.isdecimal() and period.isdecimal():
            cores = min(cores, math.ceil(int(quota) / int(period)))
    return max(1, cores)


def count_jobs(most: int, *, root: Path = CGROUPS) -> int:
    """How many compilers to run at once, between one and `most`: by cores, and by processes still allowed."""
    jobs = min(most, count_cores(root))
    for folder in _list_groups(root):
        limit, used = _read(folder / "pids.max"), _read(folder / "pids.current")
        if limit.isdecimal() and used.isdecimal():
            jobs = min(jobs, (int(limit) - int(used)) // PROCESSES_A_JOB)
    return max(1, jobs)


def _list_groups(root: Path) -> list[Path]:
    """Our control group (version 2) and all above it."""
    lines = _read(Path("/proc/self/cgroup")).splitlines()
    own = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/")
    folder = root / own.strip("/")
    return [folder, *(above for above in folder.parents if above.is_relative_to(root))]


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8").strip()
    return ""
