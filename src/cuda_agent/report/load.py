"""From folders and files to the material of the pages.

What was named must be readable, or the error says why not. What merely lies in a named folder and has no
form that a page shows is listed as left out.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cuda_agent.agent.record import LIVE, TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.bench.load import RECORDS, SUITE, load_records
from cuda_agent.bench.record import BenchRecord
from cuda_agent.environment.environment import SUBMISSIONS
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.winner import load_evaluation
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable
from cuda_agent.report.judged import CaseResult, Race, TimedEvaluation
from cuda_agent.report.material import (
    BenchFound,
    EpisodeFound,
    EpisodeUnderWay,
    EvaluationFound,
    Material,
    SavedRun,
    Synthesis,
    Throughput,
    Training,
)
from cuda_agent.report.training_log import Sample, is_training_log, load_training
from cuda_agent.rundir import CONFIG_NAME, read_records, read_saved_config
from cuda_agent.synthesis.fate import Fate

FATES = "fates.jsonl"
"""Where a synthesis keeps what became of its candidates."""
SAMPLES = "samples.jsonl"
"""Where training keeps some of the episodes that it met."""
SHOWN_BYTES = 200_000
"""The most of one file of a submission that is shown."""

Found = dict[str, tuple[Any, ...]]
"""Parts of a `Material`, by field."""


def load_material(paths: Sequence[Path]) -> Material:
    """Everything that the paths hold: folders of runs, folders of results, single files.

    Raises:
        UserError: a path does not exist, is damaged, or is of no form that a page shows.
    """
    merged: dict[str, list[Any]] = {name: [] for name in Material.model_fields}
    for path in paths:
        for name, items in _load_path(path).items():
            merged[name].extend(items)
    merged["cases"] = _keep_newest(merged["cases"])
    # The parts are records already: to validate a thousand episodes once more would only take time.
    return Material.model_construct(None, **{name: tuple(items) for name, items in merged.items()})


def _load_path(path: Path) -> Found:
    if not path.exists():
        raise UserError(f"{path} does not exist; give the folder of a run, or of results")
    if path.is_file():
        found = _load_file(path)
        if found is None:
            raise UserError(f"{path} is of no form that a page shows; give a run's folder or its records")
        return found
    return _load_run(path) if (path / CONFIG_NAME).exists() else _load_folder(path)


def _load_folder(path: Path) -> Found:
    """A folder that is no run: of its files and runs, all that can be shown."""
    merged: dict[str, list[Any]] = {}
    for child in sorted(path.iterdir()):
        found: Found | None = None
        if child.is_dir():
            found = _load_path(child)
        elif child.suffix in (".json", ".jsonl"):
            found = _load_file(child)
            if found is None:
                reason = f"{child.parent.name}/{child.name}: of no form that a page shows"
                found = {"left_out": (make_printable(reason),)}
        for name, items in (found or {}).items():
            merged.setdefault(name, []).extend(items)
    return {name: tuple(items) for name, items in merged.items()}


def _load_run(path: Path) -> Found:
    saved = read_saved_config(path)
    name = path.absolute().name
    run = SavedRun(name=name, digest=str(saved["digest"]), config=saved["config"], verb=_find_verb(path))
    found: Found = {"runs": (run,)}
    trajectories = read_records(path / TRAJECTORIES, Trajectory)
    found["episodes"] = tuple(
        EpisodeFound(run=name, trajectory=each, files=_read_files(path, each)) for each in trajectories
    )
    found["under_way"] = tuple(
        EpisodeUnderWay(run=name, name=live.stem, turns=read_records(live, Turn))
        for live in sorted((path / LIVE).glob("*.jsonl"))
    )
    if (path / RECORDS).exists():
        found["benches"] = (BenchFound(run=name, records=load_records(path / RECORDS)),)
    elif trajectories or (path / SUITE).exists():
        found["benches"] = (BenchFound(run=name, records=load_records(path)),)
    if fates := read_records(path / FATES, Fate):
        found["syntheses"] = (Synthesis(run=name, fates=fates),)
    found["trainings"] = tuple(_load_trainings(path, name))
    for log in sorted([*path.glob(SAMPLES), *path.glob(f"*/{SAMPLES}")]):
        found["episodes"] += _load_samples(log, _name_part(path, name, log=log))
    return found


def _find_verb(path: Path) -> str:
    """What made a run's folder, by the files that only it writes."""
    marks = {FATES: "synth", SUITE: "bench", TRAJECTORIES: "run", LIVE: "run"}
    return next((verb for name, verb in marks.items() if (path / name).exists()), "")


def _load_trainings(path: Path, name: str) -> Iterator[Training]:
    """Each log of figures in a run's folder, or one stage's in a folder below."""
    for log in sorted([*path.glob("*.jsonl"), *path.glob("*/*.jsonl")]):
        if log.parent.name != LIVE and is_training_log(log):
            yield load_training(log, _name_part(path, name, log=log))


def _name_part(path: Path, name: str, *, log: Path) -> str:
    """A run's name, with the folder of its part that a log lies in."""
    part = log.parent.relative_to(path).as_posix()
    return name if part == "." else f"{name}/{part}"


def _load_samples(path: Path, name: str) -> tuple[EpisodeFound, ...]:
    samples = read_records(path, Sample)
    return tuple(
        EpisodeFound(run=name, trajectory=each.trajectory, step=each.step, sample=number)
        for number, each in enumerate(samples)
    )


def _read_files(path: Path, trajectory: Trajectory) -> dict[str, str]:
    """The texts of the submission that counts; a link or a binary file is none."""
    if trajectory.final is None:
        return {}
    folder = path / SUBMISSIONS / Path(trajectory.final.submission_sha).name
    files = [folder / "model_new.py", *sorted((folder / "kernels").glob("*"))]
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()[:SHOWN_BYTES].decode(errors="replace")
        for file in files
        if file.is_file() and not file.is_symlink() and file.suffix in (".py", ".cu", ".cpp", ".h", ".cuh")
    }


def _load_file(path: Path) -> Found | None:
    """One file by what its first record looks like; None where no page shows such."""
    if path.suffix == ".json":
        return _load_json(path)
    if is_training_log(path):
        return {"trainings": (load_training(path, f"{path.absolute().parent.name}/{path.stem}"),)}
    keys = _read_keys(path)
    for signature, load in _FORMS:
        if signature <= keys:
            return load(path)
    return None


def _load_json(path: Path) -> Found | None:
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return None
    if not isinstance(content, dict) or not {"submission_sha", "rules"} <= content.keys():
        return None
    return {"evaluations": (EvaluationFound(run=path.parent.name, evaluation=load_evaluation(path)),)}


def _read_keys(path: Path) -> set[str]:
    with open(path, "rb") as file:
        line = file.readline()
    try:
        first = json.loads(line)
    except ValueError:
        return set()
    return set(first) if isinstance(first, dict) else set()


def _load_named_evaluations(path: Path) -> Found:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (json.loads(line).get("evaluation") for line in lines)
    return {
        "evaluations": tuple(
            EvaluationFound(run=path.stem, evaluation=Evaluation.model_validate(each))
            for each in found
            if each is not None
        )
    }


def _load_throughput(path: Path) -> Found:
    found = read_records(path, TimedEvaluation)
    return {"throughputs": (Throughput(run=path.stem, evaluations=found),)}


def _load_trajectories(path: Path) -> Found:
    found = read_records(path, Trajectory)
    return {"episodes": tuple(EpisodeFound(run=path.parent.name, trajectory=each) for each in found)}


_FORMS: tuple[tuple[set[str], Callable[[Path], Found]], ...] = (
    ({"corpus", "verdict", "is_right"}, lambda path: {"cases": read_records(path, CaseResult)}),
    ({"elements", "ratio", "target"}, lambda path: {"races": read_records(path, Race)}),
    ({"turns", "stop_reason"}, _load_trajectories),
    ({"step", "trajectory"}, lambda path: {"episodes": _load_samples(path, path.absolute().parent.name)}),
    ({"name", "evaluation"}, _load_named_evaluations),
    ({"item", "verdict", "at_s"}, _load_throughput),
    (
        {"task_id", "place", "status"},
        lambda path: {"benches": (BenchFound(run=path.stem, records=read_records(path, BenchRecord)),)},
    ),
    (
        {"candidate", "measured"},
        lambda path: {"syntheses": (Synthesis(run=path.stem, fates=read_records(path, Fate)),)},
    ),
)
"""Which keys a file's first record has, and how such a file is read."""


def _keep_newest(cases: Iterable[CaseResult]) -> list[CaseResult]:
    """The last verdict on each case, by target and by the lines of defence that were off."""
    newest = {(case.corpus, case.name, case.target, case.without): case for case in cases}
    return list(newest.values())
