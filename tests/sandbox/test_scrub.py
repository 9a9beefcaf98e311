"""The environment is fixed, beside what is asked for."""

import sys
from pathlib import Path

import pytest

from cuda_agent.sandbox import scrub as module
from cuda_agent.sandbox.scrub import build_environment

HOME = Path("/private")


def test_nothing_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("PATH", "/somewhere/else")
    env = build_environment({}, home=HOME, gpu=False)
    assert "secret" not in "".join(env.values())
    assert "/somewhere/else" not in env["PATH"]


def test_the_path_begins_with_this_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "find_cuda_root", lambda: tmp_path)
    env = build_environment({}, home=HOME, gpu=False)
    folders = env["PATH"].split(":")
    assert folders[:2] == [str(Path(sys.executable).parent), str(tmp_path / "bin")]
    assert folders[-1] == "/bin"
    assert len(set(folders)) == len(folders)
    assert env["CUDA_HOME"] == str(tmp_path)


def test_what_is_asked_for_wins() -> None:
    env = build_environment({"LANG": "de_DE.UTF-8", "X": "1"}, home=HOME, gpu=False)
    assert (env["LANG"], env["X"], env["HOME"]) == ("de_DE.UTF-8", "1", "/private")


def test_the_driver_is_found_only_with_the_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "DRIVER_FOLDERS", (tmp_path, tmp_path / "absent"))
    assert "LD_LIBRARY_PATH" not in build_environment({}, home=HOME, gpu=False)
    assert build_environment({}, home=HOME, gpu=True)["LD_LIBRARY_PATH"] == str(tmp_path)


def test_an_installed_package_needs_no_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_package_folder", lambda: Path(sys.prefix, "lib", "cuda_agent"))
    assert "PYTHONPATH" not in build_environment({}, home=HOME, gpu=False)
    monkeypatch.setattr(module, "find_package_folder", lambda: Path("/checkout/src/cuda_agent"))
    assert build_environment({}, home=HOME, gpu=False)["PYTHONPATH"] == "/checkout/src"
