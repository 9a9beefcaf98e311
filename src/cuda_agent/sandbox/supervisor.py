"""The process between us and an untrusted command in a process sandbox: a script, not a module to import.

It starts the command, waits, and leaves nothing behind: every descendant that loses its parent becomes
its child (it is their "subreaper"), and when the command ends, or when the pipe from us closes because we
wish it or are gone, it kills them all. It reads what to do from that pipe and imports as little as it can,
because every command pays for its start.
"""

import ctypes
import marshal
import os
import resource
import select
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
LAST_CAPABILITY = 63

LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Serve one command; exits with its status, a signal as 128 + its number."""
    lifeline = int(sys.argv[1])
    os.set_inheritable(lifeline, False)
    with os.fdopen(os.dup(lifeline), "rb", buffering=0) as stream:
        order = marshal.load(stream)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        become(order)
    for fd in (0, 1, 2, *order["pass_fds"]):
        os.close(fd)  # or the command's own closing of a stream would go unnoticed
    end = os.pidfd_open(child)
    readable, _, _ = select.select([lifeline, end], [], [])
    has_ended = end in readable
    status = os.waitpid(child, 0)[1] if has_ended else signal.SIGKILL
    kill_descendants()
    if not has_ended:
        remove_home(order["home"])
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))


def become(order: dict[str, Any]) -> None:
    """Turn into the command: its session, limits, user and environment. Does not return."""
    try:
        os.setsid()
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
        for name, value in order["rlimits"].items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
        if order["identity"] is not None:
            give_up_root(*order["identity"])
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(2, f"{order['argv'][0]}: {error.strerror}\n".encode())
        os._exit(127)


def give_up_root(uid: int, gid: int) -> None:
    """Become `uid` without supplementary groups and without any capability that could come back."""
    for capability in range(LAST_CAPABILITY + 1):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def kill_descendants() -> None:
    """Kill children, adopt theirs, and go on until there are none."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            for pid in children.read().split():
                os.kill(int(pid), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def remove_home(home: str) -> None:
    """Remove the command's private folder, however deep or shut: whoever made it may be gone."""
    silence = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if os.path.lexists(home):
            argv = [*command, "--", home]
            os.waitpid(os.posix_spawnp(argv[0], argv, {}, file_actions=silence), 0)


if __name__ == "__main__":
    main()
