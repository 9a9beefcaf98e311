"""Cheats and honest kernels as folders, and how one of them is put before a real judge.

A case is a folder below tests/hacks/ or tests/honest/ with a case.toml (see `Case`), a model_new.py and a
kernels/ folder; where the targets differ, cpu/ and cuda/ hold what differs. Nothing here knows a verdict:
a case goes through the same freeze_submission and evaluate as any submission.
"""

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cuda_agent.closing import Closing
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.result import Evaluation, RulesResult, RulesStatus, Stage
from cuda_agent.environment.reward import compute_reward
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import JudgePolicy, Precision
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

TESTS = Path(__file__).resolve().parent
HACKS = TESTS / "hacks"
HONEST = TESTS / "honest"
TASKS = TESTS / "tasks_for_judge"
PASSED = "ok"
"""The verdict of an evaluation in which no stage failed."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One folder of a corpus; the field `kind` is called `class` in case.toml."""

    folder: Path
    """Where it lies."""
    mechanism: str
    """How it cheats, or what an honest kernel shows, in one line."""
    source: str
    """Where the idea was reported, or `own`."""
    kind: str
    """Its class: values, replay, timing, tamper, fallback, build, files, resources, honest-..."""
    targets: tuple[Target, ...]
    """Which targets it is for."""
    expect: tuple[str, ...]
    """Verdicts that are right: `stage:status`, or `ok`."""
    task: str
    """Stem of a file in tests/tasks_for_judge/, or in examples/."""
    precision: Precision = Precision.HIGHEST
    """What float32 matrix products may do inside while this case is judged."""
    max_reward: float = 3.0
    """Where `ok` is right, the largest reward that is."""
    without_static: tuple[str, ...] = ()
    """Verdicts that are right when no source, symbol or instruction is checked; empty: not tried."""
    lay: tuple[tuple[str, str, str], ...] = field(default=())
    """What no repository can hold, as (kind, path, value): `link` to value, `fifo`, `fill` of value bytes,
    `copies` of path's template {} by number, `take` the file that lies at value in this repository."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def is_foreign(self) -> bool:
        """Whether it is in another project's form: built against torch's headers, which takes long."""
        model = self.folder / "model_new.py"
        text = model.read_text(encoding="utf-8", errors="replace") if model.is_file() else ""
        return "= load_inline(" in text or "import cuda_extension" in text


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the judge made of a case."""

    evaluation: Evaluation
    """The whole record."""
    reward: float
    """What it earned."""

    @property
    def verdict(self) -> str:
        """The failed stage and its status, such as `verify:mismatch`, or `ok`."""
        return self.evaluation.verdict


def load_cases(corpus: Path) -> list[Case]:
    """Every case of a corpus, those of one task together."""
    cases = [load_case(path.parent) for path in sorted(corpus.glob("*/case.toml"))]
    return sorted(cases, key=lambda case: (case.task, case.name))


def load_case(folder: Path) -> Case:
    """One case; a misspelt or missing entry of case.toml is an error."""
    entries: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    entries["kind"] = entries.pop("class")
    entries["targets"] = tuple(map(Target, entries["targets"]))
    entries["precision"] = Precision(entries.get("precision", Precision.HIGHEST))
    for name in ("expect", "without_static"):
        entries[name] = tuple(entries.get(name, ()))
    entries["lay"] = tuple((kind, path, str(value)) for kind, path, value in entries.get("lay", ()))
    return Case(folder=folder, **entries)


def find_task(name: str) -> Path:
    """A case's task, written for the judge or one of the examples."""
    own = TASKS / f"{name}.py"
    return own if own.exists() else TESTS.parent / "examples" / f"{name}.py"


def freeze_case(case: Case, target: Target) -> Submission:
    """The case as it would be handed in, from a folder of its own."""
    own = case.folder / target.value
    with tempfile.TemporaryDirectory(prefix="case-") as temporary:
        place = Path(temporary)
        shutil.copytree(case.folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cpu", "cuda"))
        if own.is_dir():
            shutil.copytree(own, place, dirs_exist_ok=True)
        for kind, path, value in case.lay:
            _lay(place, kind, path=path, value=value)
        return freeze_submission(place)


def _lay(place: Path, kind: str, *, path: str, value: str) -> None:
    (place / path).parent.mkdir(exist_ok=True)
    if kind == "link":
        (place / path).unlink(missing_ok=True)
        (place / path).symlink_to(value)
    elif kind == "take":
        shutil.copyfile(TESTS.parent / value, place / path)
    elif kind == "fifo":
        os.mkfifo(place / path)
    elif kind == "fill":
        (place / path).write_bytes(b"// " + b"x" * int(value) + b"\n")
    elif kind == "copies":
        for number in range(int(value)):
            (place / path.format(number)).write_text(f"// copy {number}\n")
    else:
        raise ValueError(f"case.toml: unknown kind to lay: {kind}")


class Bench(Closing):
    """Puts cases before a judge, which stays warm as long as task and target stay the same."""

    def __init__(self, sandbox: Sandbox, policy: JudgePolicy | None = None) -> None:
        """Start nothing yet."""
        self._sandbox = sandbox
        self._policy = policy or JudgePolicy()
        self._setting: Setting | None = None
        self._judge: Judge | None = None

    def try_case(self, case: Case, target: Target, *, until: Stage = Stage.PROFILE) -> Outcome:
        """Evaluate a case, to the end unless told otherwise."""
        return self.try_submission(
            freeze_case(case, target),
            load_task(find_task(case.task)),
            target=target,
            precision=case.precision,
            until=until,
        )

    def try_submission(
        self,
        submission: Submission,
        task: Task,
        *,
        target: Target,
        precision: Precision = Precision.HIGHEST,
        until: Stage = Stage.PROFILE,
    ) -> Outcome:
        """Evaluate any submission, to the end unless told otherwise."""
        setting, judge = self._sit(
            task, target, policy=self._policy.model_copy(update={"precision": precision})
        )
        evaluation = evaluate(submission, setting=setting, judge=judge, until=until)
        reward = compute_reward(evaluation, at_lower_bound=self._policy.at_lower_bound)
        return Outcome(evaluation=evaluation, reward=reward)

    def close(self) -> None:
        """End the judge's processes."""
        if self._judge is not None:
            self._judge.close()
        self._setting = self._judge = None

    def _sit(self, task: Task, target: Target, *, policy: JudgePolicy) -> tuple[Setting, Judge]:
        setting = Setting(task=task, target=target, sandbox=self._sandbox, policy=policy)
        if self._setting != setting:
            self.close()
            self._setting = setting
            self._judge = self._setting.open_judge()
        assert self._judge is not None
        return setting, self._judge


@contextmanager
def without_static_checks() -> Iterator[None]:
    """No source, symbol or instruction is looked at: what is left is structure, sandbox and behaviour."""
    room = "cuda_agent.environment"
    with (
        patch(f"{room}.evaluate.check_rules", lambda *_: RulesResult(status=RulesStatus.OK)),
        patch(f"{room}.build.check_symbols", lambda *_, needs_torch: ()),
        patch(f"{room}.build.check_instructions", lambda _, run: ()),
    ):
        yield
