"""The allowlist holds what a command needs, link by link, and nothing of a home."""

import sys
from pathlib import Path

import pytest

from cuda_agent.sandbox.system import (
    find_cuda_root,
    find_gpu_devices,
    find_package_folder,
    find_private_paths,
    find_python_prefixes,
    find_system_paths,
)


def test_system_paths_exist_and_hide_homes() -> None:
    paths = find_system_paths()
    assert Path("/usr") in paths
    assert all(path.is_symlink() or path.exists() for path in paths)
    assert not {Path("/"), Path("/home"), Path("/root"), Path("/etc"), Path("/var")} & set(paths)


def test_every_hop_to_the_interpreter_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("env", "alias", "real"):
        (tmp_path / name / "bin").mkdir(parents=True)
    (tmp_path / "real" / "bin" / "python3").touch()
    (tmp_path / "alias" / "bin" / "python3").symlink_to("../../real/bin/python3")
    (tmp_path / "env" / "bin" / "python").symlink_to(tmp_path / "alias" / "bin" / "python3")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "env" / "bin" / "python"))
    prefixes = find_python_prefixes()
    assert prefixes[:1] == (Path(sys.prefix),)
    assert {tmp_path / "alias", tmp_path / "real"} <= set(prefixes)


def test_the_package_folder_is_the_package_alone() -> None:
    assert (find_package_folder() / "sandbox" / "system.py").is_file()
    assert find_package_folder().name == "cuda_agent"


def test_private_paths_leave_out_what_usr_shows() -> None:
    assert find_package_folder() in find_private_paths() or find_package_folder().is_relative_to("/usr")
    assert not any(path.resolve().is_relative_to("/usr") for path in find_private_paths())


def test_the_toolkit_is_found_by_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_cuda_root() == tmp_path
    assert tmp_path in find_private_paths()


@pytest.mark.gpu
def test_the_gpu_devices_are_found() -> None:
    assert {Path("/dev/nvidiactl"), Path("/dev/nvidia-uvm")} <= set(find_gpu_devices())
