"""Which task of a suite a solution is for: told by its name or by what lies beside it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from cuda_agent.bench.kernelbench import compute_digest
from cuda_agent.bench.suite import Suite, SuiteTask
from cuda_agent.environment.beneath import NotBeneathError, open_folder_beneath, read_file_in
from cuda_agent.environment.environment import EVALUATION_FILE
from cuda_agent.environment.pairs import REFERENCE_FILE
from cuda_agent.errors import TaskError
from cuda_agent.tasks.kernelbench import load_task

SAMPLE = re.compile(r"level_(\d{1,9})_problem_(\d{1,9})(?:_sample_(\d{1,9}))?")
"""How KernelBench calls what was generated: level, problem and sample."""
FILE_END = "_kernel.py"
"""How the name of such a file ends."""
_EVALUATION_BYTES = 64 << 20


class Joiner:
    """Joins the solutions below one folder to the tasks of one suite."""

    def __init__(self, suite: Suite, root: Path) -> None:
        """Index the suite by everything that names a task."""
        self._root = root
        self._by_id = suite.index()
        self._by_digest = {compute_digest(each.task.source): each for each in suite.tasks}
        self._by_number = {(each.level, each.problem): each for each in suite.tasks if each.problem}
        self._by_place = {each.place: each for each in suite.tasks} | self._by_id
        names = [each.place.rpartition("/")[2] for each in suite.tasks]
        self._by_name = {
            name: each for name, each in zip(names, suite.tasks, strict=True) if names.count(name) == 1
        }

    def join_file(self, file: PurePath) -> SuiteTask | str:
        """The task of a file that is called as KernelBench's are, or why there is none."""
        return (
            self._find_sample(file.name.removesuffix(FILE_END))
            or "the suite has no task of this level and number"
        )

    def join_folder(self, folder: PurePath) -> SuiteTask | str:
        """The task of a folder with a solution, relative to the root, or why there is none."""
        if each := self._by_id.get(_read_task_id(self._root / folder)):
            return each
        for place in (folder, *folder.parents):
            reference = self._root / place / REFERENCE_FILE
            if reference.is_file():
                return self._join_reference(reference)
        return self._join_names(folder) or (
            f"no task of the suite is called like it or a folder above it; put its {REFERENCE_FILE} beside it"
        )

    def _join_reference(self, file: Path) -> SuiteTask | str:
        try:
            source = load_task(file).source
        except TaskError as error:
            return str(error)
        return self._by_digest.get(compute_digest(source)) or f"its {REFERENCE_FILE} is no task of the suite"

    def _join_names(self, folder: PurePath) -> SuiteTask | None:
        for parts in _iterate_runs(folder.parts):
            each = self._by_place.get("/".join(parts))
            each = each or self._by_name.get(parts[-1]) or self._find_sample(parts[-1])
            if each is not None:
                return each
        return None

    def _find_sample(self, name: str) -> SuiteTask | None:
        found = SAMPLE.fullmatch(name)
        return self._by_number.get((int(found[1]), int(found[2]))) if found else None


def read_sample(path: PurePath) -> int:
    """The sample's number in a name like KernelBench's; 0 where it has none."""
    for part in reversed(path.parts):
        if found := SAMPLE.fullmatch(part.removesuffix(FILE_END)):
            return int(found[3] or 0)
    return 0


def _iterate_runs(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Runs of neighbouring names, those that end deepest first, and of these the longest first."""
    for end in range(len(parts), 0, -1):
        for start in range(end):
            yield parts[start:end]


def _read_task_id(folder: Path) -> str:
    """The task's id that an evaluation beside a solution names, as a run's folder has it; else nothing."""
    try:
        with open_folder_beneath(folder, ()) as opened:
            found = json.loads(read_file_in(opened, EVALUATION_FILE, limit_bytes=_EVALUATION_BYTES))
        return str(found["task_id"])
    except (OSError, NotBeneathError, OverflowError, ValueError, KeyError, TypeError, RecursionError):
        return ""
