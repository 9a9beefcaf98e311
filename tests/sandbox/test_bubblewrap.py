"""What bubblewrap alone promises."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError, SandboxError
from cuda_agent.sandbox import bubblewrap as module
from cuda_agent.sandbox.protocol import Command, Containment, Limits, Mount, Sandbox
from cuda_agent.sandbox.system import find_package_folder

MakeCommand = Callable[..., Command]
ORDINARY_USER = 54321


def test_it_says_what_it_is(bubblewrap: Sandbox) -> None:
    assert bubblewrap.containment is Containment.BUBBLEWRAP


def test_only_the_allowlist_is_visible(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    seen = bubblewrap.run(make_command("sh", "-c", "ls -A / /etc /dev /sys/devices/system")).stdout.split()
    assert {"usr", "proc", "dev", "tmp", "ld.so.cache", "null", "cpu"} <= set(seen)
    assert not {"passwd", "shadow", "hostname", "resolv.conf", "boot", "var", "kmsg", "sda", "vda"} & set(
        seen
    )


def test_of_a_repository_only_the_package_is_visible(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    package = find_package_folder()
    if package.parent.name != "src":
        pytest.skip("needs a checkout")
    script = f"ls -A {package.parent.parent} {package.parent}"
    listed = bubblewrap.run(make_command("sh", "-c", script)).stdout
    assert "cuda_agent" in listed.split()
    assert not {".git", "tests", "pyproject.toml"} & set(listed.split())


def test_a_read_only_mount_cannot_be_changed(bubblewrap: Sandbox, workspace: Path) -> None:
    (workspace / "model.py").write_text("reference")
    (workspace / "model.py").chmod(0o666)
    mounts = [Mount(path=workspace, writable=True), Mount(path=workspace / "model.py")]
    script = "rm -f model.py; mv model.py x; echo y > model.py; chmod 0777 model.py"
    bubblewrap.run(Command(argv=["sh", "-c", script], cwd=workspace, mounts=mounts))
    assert (workspace / "model.py").read_text() == "reference"
    assert [path.name for path in workspace.iterdir()] == ["model.py"]


def test_a_link_planted_in_the_workspace_cannot_be_mounted(
    bubblewrap: Sandbox, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    (workspace / "folder").symlink_to(tmp_path / "secret")
    for path in (workspace / "folder", workspace / "folder" / "key"):
        mounts = [Mount(path=workspace, writable=True), Mount(path=path)]
        with pytest.raises(SandboxError, match="link"):
            bubblewrap.run(Command(argv=["true"], cwd=workspace, mounts=mounts))


def test_it_has_no_capability_and_cannot_gain_any(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    status = bubblewrap.run(make_command("cat", "/proc/self/status")).stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(fields[name], 16) == 0, name
    assert fields["NoNewPrivs"] == "1"
    assert "0" not in fields["Uid"].split()


def test_it_cannot_trace_the_process_above_it(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    script = "ls /proc | grep -c '^[0-9]'; kill -9 1; cat /proc/1/mem; ls /proc/1/root/../var"
    completed = bubblewrap.run(make_command("sh", "-c", script))
    assert int(completed.stdout.split()[0]) <= 5
    assert completed.returncode != 0


def test_tmp_and_shared_memory_are_bounded(
    bubblewrap: Sandbox, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TMP_BYTES", 1 << 20)
    monkeypatch.setattr(module, "SHARED_MEMORY_BYTES", 1 << 20)
    for folder in ("/tmp", "/dev/shm"):
        completed = bubblewrap.run(make_command("head", "-c", "900000", "/dev/zero"), b"")
        assert completed.returncode == 0
        script = f"head -c 900000 /dev/zero > {folder}/a && head -c 900000 /dev/zero > {folder}/b"
        completed = bubblewrap.run(make_command("sh", "-c", script))
        assert "No space left" in completed.stderr
    assert bubblewrap.run(make_command("sh", "-c", "echo x > /dev/x || echo x > /x")).returncode != 0


def test_a_loader_variable_reaches_only_the_command(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    completed = bubblewrap.run(make_command("/bin/true", env={"LD_PRELOAD": "/no/such/library.so"}))
    assert completed.stderr.count("cannot be preloaded") == 1


def test_it_is_the_first_to_go_when_memory_runs_out(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    assert bubblewrap.run(make_command("cat", "/proc/self/oom_score_adj")).stdout == "1000\n"


def test_a_failed_set_up_is_told_apart_from_a_failed_command(
    bubblewrap: Sandbox, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bubblewrap.run(make_command("false")).returncode == 1
    monkeypatch.setattr(module, "find_private_paths", lambda: (Path("/no/such/path"),))
    with pytest.raises(InfrastructureError, match="/no/such/path"):
        bubblewrap.run(make_command("true"))


def test_its_own_words_cannot_be_forged(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    listed = bubblewrap.run(make_command("sh", "-c", "ls /proc/self/fd")).stdout.split()
    assert listed == ["0", "1", "2", "3"]  # 3 is ls reading the folder


def test_without_the_gpu_no_device_of_it_is_visible(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    assert "nvidia" not in bubblewrap.run(make_command("ls", "/dev")).stdout


@pytest.mark.gpu
def test_with_the_gpu_torch_can_use_it(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    script = "import torch; print(float(torch.ones(10, device='cuda').sum()))"
    command = make_command(sys.executable, "-c", script, gpu=True, limits=Limits(wall_s=60))
    assert bubblewrap.run(command).stdout == "10.0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_it_keeps_its_promises_for_an_ordinary_user(bubblewrap: Sandbox, tmp_path: Path) -> None:
    python = Path("/usr/bin/python3")
    source = find_package_folder().parent
    known = python.exists() and subprocess.run([python, "-c", "import tomllib"], check=False).returncode == 0
    if not known or not all(folder.stat().st_mode & 1 for folder in (source, *source.parents)):
        pytest.skip("needs a system Python 3.11 and a checkout that every user can read")
    script = (
        "from cuda_agent.sandbox.bubblewrap import *; from cuda_agent.sandbox.selftest import *\n"
        "print([(p.name, p.detail) for p in run_selftest(BubblewrapSandbox()) if p.status != 'held'])"
    )
    completed = subprocess.run(
        [
            "setpriv",
            f"--reuid={ORDINARY_USER}",
            f"--regid={ORDINARY_USER}",
            "--clear-groups",
            python,
            "-c",
            script,
        ],
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stdout == "[]\n", completed.stderr


@pytest.mark.timing
def test_it_adds_little_time(bubblewrap: Sandbox, make_command: MakeCommand) -> None:
    def measure(run: Callable[[], object]) -> float:
        start_s = time.perf_counter()
        run()
        return time.perf_counter() - start_s

    command = make_command("true")
    ours_s = min(measure(lambda: bubblewrap.run(command)) for _ in range(15))
    plain_s = min(measure(lambda: subprocess.run(["true"], check=True)) for _ in range(15))
    assert ours_s - plain_s < 0.050  # 15 ms on an idle machine; a second interpreter's start would show
