"""What every sandbox promises, tried on each."""

import dataclasses
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.errors import SandboxError
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Sandbox

MakeCommand = Callable[..., Command]
TOUCHER = "setsid sh -c 'while :; do echo x >> sign; sleep 0.02; done' & sleep 60"


def wait_until(condition: Callable[[], bool], wait_s: float = 10.0) -> bool:
    end_s = time.monotonic() + wait_s
    while not condition() and time.monotonic() < end_s:
        time.sleep(0.01)
    return condition()


def grows(path: Path) -> bool:
    before = path.stat().st_size
    time.sleep(0.2)
    return path.stat().st_size > before


def test_input_output_and_status_come_through(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    command = make_command("sh", "-c", "cat; echo problem >&2; exit 7")
    completed = each_sandbox.run(command, b"hello\n" * 50_000)
    assert completed.stdout == "hello\n" * 50_000
    assert completed.stderr == "problem\n"
    assert completed.returncode == 7
    assert not completed.timed_out


def test_a_signal_is_a_negative_status(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    assert each_sandbox.run(make_command("sh", "-c", "kill -SEGV $$")).returncode == -signal.SIGSEGV


def test_a_missing_program_is_a_status_not_an_error(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    completed = each_sandbox.run(make_command("no-such-program"))
    assert completed.returncode == 127
    assert "no-such-program" in completed.stderr


def test_unread_input_does_not_hang(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    completed = each_sandbox.run(make_command("true"), b"x" * (4 << 20))
    assert completed.returncode == 0
    assert completed.duration_s < 10


def test_the_environment_is_built_from_nothing(
    each_sandbox: Sandbox, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    names = each_sandbox.run(make_command("env", env={"ASKED_FOR": "a b=c"})).stdout.splitlines()
    environment = dict(line.split("=", 1) for line in names)
    assert environment.pop("ASKED_FOR") == "a b=c"
    assert environment["LANG"] == "C.UTF-8"
    assert environment["HOME"] == environment["TMPDIR"]
    known = {"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "PYTHONDONTWRITEBYTECODE"}
    assert set(environment) - known <= {"CUDA_HOME", "PYTHONPATH"}


def test_home_is_private_writable_and_gone_afterwards(
    each_sandbox: Sandbox, make_command: MakeCommand
) -> None:
    script = "echo $HOME; ls -A $HOME | grep -v ^pytest- ; echo x > $HOME/cuda-agent-test-left"
    completed = each_sandbox.run(make_command("sh", "-c", script))
    assert completed.returncode == 0
    assert not Path(completed.stdout.splitlines()[0], "cuda-agent-test-left").exists()


def test_the_package_can_be_imported_inside(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    completed = each_sandbox.run(make_command(sys.executable, "-c", "import cuda_agent; print('in')"))
    assert completed.stdout == "in\n"


def test_names_may_hold_any_character(each_sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "a b'c\"d$(touch x);=-\n*\\é"
    folder.mkdir()
    word = "$(touch pwned) `touch pwned` ; \n '\" --help"
    command = Command(
        argv=["sh", "-c", 'printf %s "$1" > "$2"', "sh", word, "-out=$x\n"],
        cwd=folder,
        mounts=[Mount(path=folder, writable=True)],
    )
    assert each_sandbox.run(command).returncode == 0
    assert [path.name for path in folder.iterdir()] == ["-out=$x\n"]
    assert (folder / "-out=$x\n").read_text() == word


def test_what_it_writes_can_be_read_and_deleted_by_us(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    (workspace / "given").write_text("a")
    (workspace / "given").chmod(0o644)
    script = "echo b >> given; mkdir -m 0700 deep; echo c > deep/made; chmod 0600 deep/made"
    assert each_sandbox.run(make_command("sh", "-c", script)).returncode == 0
    assert (workspace / "given").read_text() == "ab\n"
    assert (workspace / "deep" / "made").read_text() == "c\n"
    (workspace / "deep" / "made").unlink()
    (workspace / "deep").rmdir()


def test_a_file_we_add_between_two_commands_can_be_changed(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    each_sandbox.run(make_command("touch", "first"))
    (workspace / "second").write_text("a")
    assert each_sandbox.run(make_command("sh", "-c", "rm first && echo b >> second")).returncode == 0
    assert (workspace / "second").read_text() == "ab\n"


def test_a_private_folder_can_be_mounted_read_only(each_sandbox: Sandbox, tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    (folder / "file").write_text("seen")
    completed = each_sandbox.run(Command(argv=["cat", "file"], cwd=folder, mounts=[Mount(path=folder)]))
    assert completed.stdout == "seen"


def test_nothing_is_left_setuid_to_us(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    each_sandbox.run(make_command("sh", "-c", "cp /bin/true evil; chmod 6755 evil"))
    status = (workspace / "evil").stat()
    assert status.st_size > 0
    assert status.st_uid != os.geteuid() or not status.st_mode & (stat.S_ISUID | stat.S_ISGID)


def test_a_memory_file_passes(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    memory = os.memfd_create("mailbox")
    os.write(memory, b"question")
    script = f"import os; os.pwrite({memory}, os.pread({memory}, 8, 0).upper(), 0)"
    completed = each_sandbox.run(make_command(sys.executable, "-c", script, pass_fds=[memory]))
    assert completed.returncode == 0, completed.stderr
    assert os.pread(memory, 100, 0) == b"QUESTION"
    os.close(memory)


@pytest.mark.parametrize("writable", [False, True])
def test_a_socket_can_be_mounted(
    each_sandbox: Sandbox, make_command: MakeCommand, *, tmp_path: Path, workspace: Path, writable: bool
) -> None:
    path = tmp_path / "channel"
    script = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b'hi')"
    mounts = [Mount(path=workspace, writable=True), Mount(path=path, writable=writable)]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        completed = each_sandbox.run(make_command(sys.executable, "-c", script, str(path), mounts=mounts))
        assert completed.returncode == 0, completed.stderr
        with server.accept()[0] as connection:
            assert connection.recv(10) == b"hi"


def test_the_wall_clock_ends_it_with_all_it_started(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    completed = each_sandbox.run(make_command("sh", "-c", TOUCHER, limits=Limits(wall_s=0.5)))
    assert completed.timed_out
    assert completed.returncode == -signal.SIGKILL
    assert 0.5 <= completed.duration_s < 5
    assert not grows(workspace / "sign")


def test_the_end_of_the_command_ends_what_it_left(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    script = TOUCHER.replace("sleep 60", "sleep 0.3")
    completed = each_sandbox.run(make_command("sh", "-c", script))
    assert completed.duration_s < 5
    assert not grows(workspace / "sign")


def test_output_is_cut_in_the_middle(each_sandbox: Sandbox, make_command: MakeCommand) -> None:
    script = "echo head; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo tail"
    completed = each_sandbox.run(
        make_command("sh", "-c", script, limits=Limits(wall_s=20, output_bytes=1000))
    )
    assert completed.stdout.startswith("head\n")
    assert completed.stdout.endswith("\ntail\n")
    assert len(completed.stdout) < 1100


def test_a_started_command_runs_until_killed(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path, tmp_path: Path
) -> None:
    command = make_command("sh", "-c", f"echo out; echo err >&2; {TOUCHER}")
    with each_sandbox.start(command, tmp_path / "log") as running:
        assert wait_until((workspace / "sign").exists)
        assert running.poll() is None
    assert running.poll() == -signal.SIGKILL
    assert not grows(workspace / "sign")
    assert (tmp_path / "log").read_text() == "out\nerr\n"
    running.kill()


def test_a_started_command_may_end_by_itself(
    each_sandbox: Sandbox, make_command: MakeCommand, tmp_path: Path
) -> None:
    with each_sandbox.start(make_command("sh", "-c", "exit 3"), tmp_path / "log") as running:
        assert wait_until(lambda: running.poll() is not None)
    assert running.poll() == 3


def test_a_started_command_outlives_the_thread_that_started_it(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path, tmp_path: Path
) -> None:
    started = []
    command = make_command("sh", "-c", TOUCHER)
    thread = threading.Thread(target=lambda: started.append(each_sandbox.start(command, tmp_path / "log")))
    thread.start()
    thread.join()
    with started[0] as running:
        assert wait_until((workspace / "sign").exists)
        assert grows(workspace / "sign")
        assert running.poll() is None


def test_an_exception_inside_the_context_kills(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path, tmp_path: Path
) -> None:
    def use() -> None:
        with each_sandbox.start(make_command("sh", "-c", TOUCHER), tmp_path / "log"):
            assert wait_until((workspace / "sign").exists)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        use()
    assert not grows(workspace / "sign")


def test_an_interrupt_during_run_kills(
    each_sandbox: Sandbox, make_command: MakeCommand, workspace: Path
) -> None:
    def interrupt() -> None:
        wait_until((workspace / "sign").exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        each_sandbox.run(make_command("sh", "-c", TOUCHER))
    thread.join()
    assert not grows(workspace / "sign")


def test_nothing_is_left_when_we_are_killed(each_sandbox: Sandbox, workspace: Path, tmp_path: Path) -> None:
    script = f"""
        import pathlib, sys, time
        from cuda_agent.sandbox.{type(each_sandbox).__module__.rpartition(".")[2]} import *
        from cuda_agent.sandbox.protocol import *
        folder = pathlib.Path(sys.argv[1])
        command = Command(
            argv=["sh", "-c", {TOUCHER!r}], cwd=folder, mounts=[Mount(path=folder, writable=True)]
        )
        {type(each_sandbox).__name__}().start(command, pathlib.Path(sys.argv[2])), time.sleep(60)
    """
    argv = [sys.executable, "-c", textwrap.dedent(script), str(workspace), str(tmp_path / "log")]
    with subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as owner:
        assert wait_until((workspace / "sign").exists)
        owner.kill()
    time.sleep(0.1)
    assert not grows(workspace / "sign")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"argv": []}, "needs a program"),
        ({"argv": ["a=b"]}, "has no '='"),
        ({"argv": ["true", "a\0b"]}, "NUL"),
        ({"env": {"A B": ""}}, "'A B'"),
        ({"cwd": Path("/usr")}, "lies in no mount"),
        ({"mounts": [Mount(path=Path("relative"))]}, "relative is relative"),
        ({"mounts": [Mount(path=Path("/no/such/path"))]}, "does not exist"),
    ],
)
def test_an_ill_formed_command_is_refused(
    each_sandbox: Sandbox, make_command: MakeCommand, *, fields: dict[str, object], message: str
) -> None:
    command = dataclasses.replace(make_command("true"), **fields)  # type: ignore[arg-type]
    with pytest.raises(SandboxError, match=message):
        each_sandbox.run(command)
