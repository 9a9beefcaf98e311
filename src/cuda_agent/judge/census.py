"""What a child and all it has started consist of, seen from outside."""

from collections import defaultdict
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
