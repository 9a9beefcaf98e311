"""What a child and all it has started consist of, seen from outside."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def find_processes_below(pid: int) -> dict[int, int]:
    """A process and all its descendants, with how many threads each has; one that ends meanwhile may lack."""
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
