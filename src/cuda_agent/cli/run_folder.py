"""A run's folder, as every verb opens and names it: a new one in `--out`, an earlier one in `--resume`."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from cuda_agent.config import Config
from cuda_agent.errors import ConfigError
from cuda_agent.rundir import RunDir, build_default_path


def check_resume(arguments: Sequence[str]) -> None:
    """Refuse `--out RUN --resume`, as some verbs once took it, and any other `--resume` without a folder.

    Raises:
        ConfigError: it is so; the message says how it is written.
    """
    after = dict(pairwise([*arguments, "--"]))
    if after.get("--resume", "").startswith("--"):
        instead, folder = (" instead of --out", after["--out"]) if "--out" in after else ("", "RUN")
        raise ConfigError(f"--resume takes the folder of the run to go on with{instead}: --resume {folder}")


def open_run(verb: str, config: Config, *, out: Path | None, resume: Path | None) -> RunDir:
    """The run in `resume` to go on with; without one a new run in `out`, by default in a fresh folder.

    Raises:
        ConfigError: the folder cannot be used for this configuration, or two are named.
    """
    if resume is None:
        return RunDir.create(out or build_default_path(verb), config)
    if out is not None and out.absolute() != resume.absolute():
        raise ConfigError(f"--resume {resume} goes on with a run, --out {out} begins one: give one of them")
    return RunDir.resume(resume, config)


def tell_run(run: RunDir, command: str = "the same command, with") -> None:
    """Say where a run is, and with which command it goes on."""
    print(f"run folder: {run.path} (if interrupted: {command} --resume {run.path})", flush=True)
