"""A run is opened by one rule for every verb, which says how it goes on."""

from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from cuda_agent.cli.run_folder import check_resume, open_run, tell_run
from cuda_agent.config import Config
from cuda_agent.errors import ConfigError


class Wish(Config):
    """What is asked for."""

    count: int = 1
    """How many."""


def test_a_new_run_is_told_and_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "run"
    with open_run("bench", Wish(), out=place, resume=None) as run:
        tell_run(run)
        tell_run(run, "cuda-agent run")
    assert capfd.readouterr().out == (
        f"run folder: {place} (if interrupted: the same command, with --resume {place})\n"
        f"run folder: {place} (if interrupted: cuda-agent run --resume {place})\n"
    )
    with pytest.raises(ConfigError, match="already holds a run"):
        open_run("bench", Wish(), out=place, resume=None)
    with open_run("bench", Wish(), out=None, resume=place) as run:
        assert run.path == place
    with pytest.raises(ConfigError, match=r"count: 1, now 2"):
        open_run("bench", Wish(count=2), out=None, resume=place)


def test_a_fresh_folder_is_named_after_the_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_run("gate", Wish(), out=None, resume=None) as run:
        assert run.path.parent == tmp_path / "runs"
        assert "-gate-" in run.path.name


def test_the_same_folder_may_be_named_twice_and_another_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_run("bench", Wish(), out=Path("run"), resume=None).close()
    open_run("bench", Wish(), out=Path("run"), resume=tmp_path / "run").close()
    with pytest.raises(ConfigError, match="--out other begins one: give one of them"):
        open_run("bench", Wish(), out=Path("other"), resume=Path("run"))
    assert not Path("other").exists()


@pytest.mark.parametrize("verb", ["run", "evaluate", "serve", "bench", "synth", "train"])
@pytest.mark.parametrize(
    ("options", "mend"),
    [
        (["--out", "runs/kb", "--resume"], " instead of --out: --resume runs/kb"),
        (["--resume", "--out", "runs/kb"], " instead of --out: --resume runs/kb"),
        (["--resume"], ": --resume RUN"),
    ],
)
def test_a_resume_without_a_folder_says_how_it_is_written(
    verb: str, options: list[str], mend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, *options]) == 2
    told = f"cuda-agent: --resume takes the folder of the run to go on with{mend}\n"
    assert capfd.readouterr().err == told


@pytest.mark.parametrize("options", [[], ["--out", "a"], ["SUITE", "--resume", "a"], ["--resume=a"]])
def test_anything_else_is_left_to_the_verb(options: list[str]) -> None:
    check_resume(options)
