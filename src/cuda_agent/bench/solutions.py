"""Solutions made elsewhere, found in a folder and joined to the tasks of a suite.

Three layouts are read, and may be mixed:

- KernelBench's `runs/NAME/`: files `level_1_problem_10_sample_0_kernel.py`, joined by level and number;
- the released work folder and ours: a folder with `model_new.py`. Its task is the one that the
  `evaluation.json` beside it names, or else whose program is the `model.py` beside it or above it;
- such a folder called, or within one called, after its task: by place (`level1/10_name`), id or name, or as
  KernelBench calls its files.

What cannot be joined is kept with its reason. No name is trusted: each is escaped where it is kept.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from cuda_agent.bench.join import FILE_END, SAMPLE, Joiner, read_sample
from cuda_agent.bench.suite import LeftOut, Suite, SuiteTask
from cuda_agent.config import Record
from cuda_agent.environment.pairs import Pair
from cuda_agent.environment.submission import MODEL_FILE
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable


class Solution(Record):
    """One solution to one task."""

    name: str
    """Where it was found, made printable: unique among them."""
    task_id: str
    """The task that it is for."""
    number: int
    """Which of the task's solutions it is, from 0."""


class SolutionList(Record):
    """What was found in a folder."""

    solutions: tuple[Solution, ...]
    """All that were joined, in the suite's order."""
    left_out: tuple[LeftOut, ...] = ()
    """What looks like a solution and is for no task of the suite, and why."""


@dataclass(frozen=True)
class FoundSolutions:
    """Solutions in a folder, with what it takes to judge them."""

    listed: SolutionList
    """What a run's folder keeps of them."""
    pairs: tuple[Pair, ...]
    """Each with its task, in the same order; a pair's id is the solution's name."""


def find_solutions(root: Path, suite: Suite) -> FoundSolutions:
    """The solutions in a folder that are for tasks of a suite.

    Raises:
        UserError: there is no such folder, or nothing in it looks like a solution.
    """
    shown = make_printable(os.fsencode(root).decode("utf-8", "backslashreplace"))
    if not root.is_dir():
        raise UserError(f"{shown} is not a folder: give the folder that holds the solutions")
    joined: list[tuple[PurePath, SuiteTask]] = []
    left_out = []
    joiner = Joiner(suite, root)
    for path, each in _join_all(root, joiner):
        if isinstance(each, str):
            left_out.append(LeftOut(place=name_path(path), reason=each))
        else:
            joined.append((path, each))
    if not joined and not left_out:
        raise UserError(
            f"{shown} holds no solution: neither a folder with {MODEL_FILE} nor a file like "
            f"level_1_problem_1_sample_0{FILE_END}"
        )
    return _gather(root, joined, suite=suite, left_out=left_out)


def name_path(path: PurePath) -> str:
    """A path as printable text; one that had to be changed gets a digest, so that no two become one."""
    raw = os.fsencode(path)
    text = make_printable(raw.decode("utf-8", "backslashreplace"))
    return text if text.encode() == raw else f"{text} [{hashlib.sha256(raw).hexdigest()[:12]}]"


def _join_all(root: Path, joiner: Joiner) -> Iterator[tuple[PurePath, SuiteTask | str]]:
    for place, folders, files in os.walk(root):
        folders.sort()
        folder = PurePath(place).relative_to(root)
        if MODEL_FILE in files:
            yield folder, joiner.join_folder(folder)
        for name in sorted(files):
            if name.endswith(FILE_END) and SAMPLE.fullmatch(name.removesuffix(FILE_END)):
                yield folder / name, joiner.join_file(folder / name)


def _gather(
    root: Path, joined: list[tuple[PurePath, SuiteTask]], *, suite: Suite, left_out: list[LeftOut]
) -> FoundSolutions:
    order = {each.task.task_id: place for place, each in enumerate(suite.tasks)}
    joined.sort(key=lambda pair: (order[pair[1].task.task_id], read_sample(pair[0]), os.fsencode(pair[0])))
    counts: Counter[str] = Counter()
    solutions, pairs = [], []
    for path, each in joined:
        task_id, name = each.task.task_id, name_path(path)
        solutions.append(Solution(name=name, task_id=task_id, number=counts[task_id]))
        pairs.append(Pair(pair_id=name, task=each.task, submission=root / path))
        counts[task_id] += 1
    listed = SolutionList(solutions=tuple(solutions), left_out=tuple(left_out))
    return FoundSolutions(listed=listed, pairs=tuple(pairs))
