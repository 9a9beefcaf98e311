"""A winning kernel as an installable package that needs nothing of this project."""

import json
import keyword
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cuda_agent import __version__
from cuda_agent.atomic import write_aside
from cuda_agent.environment.build import build_submission
from cuda_agent.environment.compilers import (
    CXX_FLAGS,
    LINK_FLAGS,
    MACROS,
    NVCC_FLAGS,
    SOURCE_SUFFIXES,
    VERSION_SCRIPT,
    find_compilers,
)
from cuda_agent.environment.foreign import unfold_foreign
from cuda_agent.environment.relative_imports import make_kernels_relative
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import KERNELS_FOLDER, MODEL_FILE, Submission
from cuda_agent.environment.toolchain import SKILL
from cuda_agent.environment.winner import Winner
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.judge.result import Ratio
from cuda_agent.printable import make_printable
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

TEMPLATES = Path(__file__).parent / "templates"
"""The package's own files, laid out as they will lie; `package` stands for its import name."""

TEMPLATE_SUFFIX = ".jinja"
DESCRIBE_S = 120.0


@dataclass(frozen=True)
class Exported:
    """A package that was written."""

    folder: Path
    """Where: what `pip install` takes."""
    import_name: str
    """What `import` takes."""


def export_package(winner: Winner, folder: Path, *, sandbox: Sandbox, command: str) -> Exported:
    """Write a winner into a new or empty folder as an installable package, whole or not at all.

    `command` is how its README says that it was made. The kernels are built here, for this machine.

    Raises:
        UserError: the folder is not empty, the kernels do not build, or they need torch's headers.
        ToolchainError: this machine lacks a compiler for the target.
        InfrastructureError: the machine cannot be described.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there and not empty: choose another folder")
    if unfold_foreign(winner.submission) is not winner.submission:
        raise UserError(
            "the kernels are bound by pybind or load_inline, and a package has none of torch's headers: "
            "bind them with cuda_agent/kernel.h, and evaluate again"
        )
    name = build_import_name(winner.task.name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with write_aside(folder.absolute()) as place:
        _write_templates(place, winner=winner, name=name, command=command)
        package = place / "src" / name
        _write_sources(package, winner)
        _write_library(package / "prebuilt", winner, sandbox=sandbox)
    return Exported(folder, name)


def build_import_name(task_name: str) -> str:
    """An import name for a task: `kernel_` and what of the task's name an identifier may hold."""
    name = "kernel_" + (re.sub(r"[^a-z0-9]+", "_", task_name.lower()).strip("_") or "task")
    assert name.isidentifier()
    assert not keyword.iskeyword(name)
    return name


def _write_templates(place: Path, *, winner: Winner, name: str, command: str) -> None:
    pages = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    evaluation = winner.evaluation
    values = {
        "import_name": name,
        "distribution": name.replace("_", "-"),
        "version": f"1.0.0+{evaluation.submission_sha}",
        "task_name": re.sub(r"[^A-Za-z0-9._-]", "_", winner.task.name),
        "loads_itself": b"def load_state_dict" in winner.submission.files[MODEL_FILE],
        "target": evaluation.target.value,
        "policy": evaluation.policy,
        "sha": evaluation.submission_sha,
        "made_by": __version__,
        "command": make_printable(command),
        **_describe_measurement(evaluation),
    }
    for template in sorted(TEMPLATES.rglob(f"*{TEMPLATE_SUFFIX}")):
        path = template.relative_to(TEMPLATES)
        parts = ("src", name, *path.parts[1:]) if path.parts[0] == "package" else path.parts
        target = place.joinpath(*parts).with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(pages.get_template(path.as_posix()).render(**values), encoding="utf-8")
    (place / "evaluation.json").write_text(evaluation.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _describe_measurement(evaluation: Evaluation) -> dict[str, object]:
    """What the README says of times: names come from libraries and devices, and are shown as text."""
    profile = evaluation.profile
    assert profile is not None
    rows = [
        ("this kernel", profile.candidate, None),
        ("PyTorch, eager", profile.eager, profile.over_eager),
        ("torch.compile", profile.compiled, profile.over_compiled),
    ]
    versions = (f"{name} {version}" for name, version in profile.versions.items())
    return {
        "times": [
            {"name": name, "median_ms": timing.median_ms, "ratio": _describe_ratio(ratio)}
            for name, timing, ratio in rows
            if timing is not None
        ],
        "device": make_printable(profile.device) or "a machine that was not recorded",
        "versions": make_printable(", ".join(versions)),
        "method": make_printable(profile.method),
    }


def _describe_ratio(ratio: Ratio | None) -> str:
    return "" if ratio is None else f"{ratio.point:.2f}x ({ratio.low:.2f}x to {ratio.high:.2f}x)"


def _write_sources(package: Path, winner: Winner) -> None:
    """The submission, the reference, and what the kernels include."""
    for path, content in winner.submission.files.items():
        if path != MODEL_FILE:
            (package / path).write_bytes(content)
    # As the judge reads it: a coding cookie has no say.
    source = winner.submission.files[MODEL_FILE].decode("utf-8")
    (package / MODEL_FILE).write_text(make_kernels_relative(source), encoding="utf-8", newline="")
    (package / "model.py").write_text(winner.task.source, encoding="utf-8")
    header = package / "include" / "cuda_agent" / "kernel.h"
    header.parent.mkdir(parents=True)
    shutil.copyfile(SKILL / "include" / "cuda_agent" / "kernel.h", header)
    recipe = _build_recipe(winner.submission, winner.evaluation.target)
    (package / "recipe.json").write_text(json.dumps(recipe, indent=1) + "\n", encoding="utf-8")


def _build_recipe(submission: Submission, target: Target) -> dict[str, object]:
    """How the kernels are built anywhere: what the judge's build does, without this machine's paths."""
    sources = [path for path in submission.files if path.startswith(f"{KERNELS_FOLDER}/")]
    libraries = find_compilers(target).find_libraries(submission.files[path] for path in sources)
    return {
        "target": target.value,
        "units": [path for path in sources if path.endswith(SOURCE_SUFFIXES[target])],
        "cxx_flags": CXX_FLAGS,
        "nvcc_flags": NVCC_FLAGS if target is Target.CUDA else (),
        "macros": MACROS[target],
        "link_flags": LINK_FLAGS,
        "version_script": VERSION_SCRIPT,
        "libraries": [path.name.split(".")[0].removeprefix("lib") for path in libraries],
    }


def _write_library(folder: Path, winner: Winner, *, sandbox: Sandbox) -> None:
    """The library, built here, and what of this machine it depends on, as the package itself sees it."""
    target = winner.evaluation.target
    result, library = build_submission(winner.submission, target=target, sandbox=sandbox, folder=folder)
    if library is None:
        raise UserError(f"the kernels do not build on this machine: {make_printable(result.reason)}")
    program = [sys.executable, "-P", str(folder.parent / "machine.py"), target.value]
    done = subprocess.run(program, capture_output=True, text=True, timeout=DESCRIBE_S, check=False)
    if done.returncode != 0:
        raise InfrastructureError(f"this machine cannot be described: {make_printable(done.stderr[-400:])}")
    (folder / "machine.json").write_text(done.stdout, encoding="utf-8")
