"""What a child and all it has started consist of, seen from outside."""

import functools
import os
import threading
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_TRIES = 8


def find_processes_below(pid: int) -> dict[int, int]:
    """A process and all its descendants, with how many threads each has; one that ends meanwhile may lack.

    The kernel lists a thread's children, but may leave some out while others end, so it is asked until it
    says the same twice. Where it does not list them, every process of the machine is looked at.
    """
    if not _lists_children():
        return _search(pid)
    found = _descend(pid)
    for _ in range(_TRIES):
        again = _descend(pid)
        if again == found:
            break
        found = again
    return found


@functools.cache
def _lists_children() -> bool:
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").exists()


def _descend(pid: int) -> dict[int, int]:
    """From parent to child, reading nothing of any other process."""
    found: dict[int, int] = {}
    pending = [pid]
    while pending:
        process = pending.pop()
        threads: list[str] = []
        with suppress(OSError):
            threads = os.listdir(f"/proc/{process}/task")
            found[process] = len(threads)
        for thread in threads:
            with suppress(OSError):
                children = Path(f"/proc/{process}/task/{thread}/children").read_bytes().split()
                pending += [child for child in map(int, children) if child not in found]
    return found


def _search(pid: int) -> dict[int, int]:
    """From each process of the machine to its parent: hundreds of times as much to read."""
    threads: dict[int, int] = {}
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):
            # The command's name, in parentheses, may hold anything: the fields start after the last one.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            threads[int(folder.name)] = int(fields[17])
            children[int(fields[1])].append(int(folder.name))
    found, pending = {}, [pid]
    while pending:
        process = pending.pop()
        if process in threads:
            found[process] = threads[process]
        pending += children[process]
    return found


def measure_work_ns(pids: Iterable[int]) -> int:
    """Processor time of all living threads of these processes; 0 where the kernel does not count it."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
    return total


def is_moving(pid: int) -> bool:
    """Whether a process is neither stopped nor gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "TtZX"
