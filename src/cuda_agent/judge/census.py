"""How many threads a child and all it has started have, counted from outside."""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path


def count_threads_below(pid: int) -> int:
    """Threads of a process and of all its descendants; one that ends meanwhile may not count."""
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
    total, pending = 0, [pid]
    while pending:
        process = pending.pop()
        total += threads.get(process, 0)
        pending += children[process]
    return total
