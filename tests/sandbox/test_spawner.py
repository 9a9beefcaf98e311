"""Processes start from one thread that stays, in exactly the given environment."""

import os
import subprocess

from cuda_agent.sandbox.spawner import Spawner, Streams

STREAMS = Streams(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def spawn(spawner: Spawner, script: str, *, pass_fds: tuple[int, ...] = ()) -> str:
    argv = ["/bin/sh", "-c", script]
    with spawner.spawn(argv, env={"ONLY": "this"}, pass_fds=pass_fds, streams=STREAMS) as process:
        return process.communicate()[0].decode()


def test_environment_folder_and_session_are_fresh() -> None:
    lines = spawn(Spawner(), "/usr/bin/env; pwd; ps -o sid= -p $$; echo $$").split()
    assert "ONLY=this" in lines
    assert "HOME" not in "".join(lines)
    assert "/" in lines
    assert lines[-2] == lines[-1]


def test_only_the_passed_descriptors_are_inherited() -> None:
    first, second = os.pipe()
    os.set_inheritable(second, True)
    assert spawn(
        Spawner(),
        f"[ -e /proc/self/fd/{first} ] && echo first; [ -e /proc/self/fd/{second} ]",
        pass_fds=(first,),
    )
    assert not spawn(Spawner(), f"[ -e /proc/self/fd/{second} ] && echo second", pass_fds=(first,))
    os.close(first)
    os.close(second)


def test_it_works_after_a_fork() -> None:
    spawner = Spawner()
    assert spawn(spawner, "echo parent") == "parent\n"
    child = os.fork()
    if child == 0:
        os._exit(0 if spawn(spawner, "echo child") == "child\n" else 1)
    assert os.waitpid(child, 0)[1] == 0
