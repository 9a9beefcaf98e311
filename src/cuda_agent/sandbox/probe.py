"""The untrusted side of the self-test: a script that tries one forbidden thing and says how it went.

It prints one JSON object: `done` is true when the forbidden thing succeeded, `detail` what was seen.
"""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Run the attempt named by the first argument with the others as its arguments."""
    attempts: dict[str, Callable[..., tuple[bool, str]]] = {
        "read": try_read,
        "environment": try_environment,
        "connect": try_connect,
        "write": try_write,
        "signal": try_signal,
        "fork": try_fork,
        "allocate": try_allocate,
        "grow": try_grow,
        "flood": try_flood,
        "linger": try_linger,
    }
    try:
        done, detail = attempts[sys.argv[1]](*sys.argv[2:])
    except (OSError, MemoryError) as error:
        done, detail = False, f"{type(error).__name__}: {error}"
    print(json.dumps({"done": done, "detail": detail}))


def try_read(path: str) -> tuple[bool, str]:
    """Read a file of the host."""
    return bool(Path(path).read_text()), "read the file"


def try_environment(name: str, pid: str) -> tuple[bool, str]:
    """Find a variable of our parent's, in our own environment or through /proc."""
    if name in os.environ:
        return True, "inherited the variable"
    environments = [Path("/proc", pid, "environ"), *Path("/proc").glob("[0-9]*/environ")]
    return any(name.encode() in _read_if_readable(path) for path in environments), "looked at every process"


def _read_if_readable(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def try_connect(port: str) -> tuple[bool, str]:
    """Connect to a listener on the host's loopback."""
    with socket.create_connection(("127.0.0.1", int(port)), timeout=2):
        return True, "connected"


def try_write(*paths: str) -> tuple[bool, str]:
    """Create every one of these files that can be; whether they exist outside is for others to say."""
    for path in paths:
        with suppress(OSError):
            Path(path).write_text("x")
    return False, "tried"


def try_signal(pid: str) -> tuple[bool, str]:
    """See and signal a process of the host."""
    os.kill(int(pid), signal.SIGTERM)
    return True, "sent a signal"


def try_fork(count: str) -> tuple[bool, str]:
    """Have `count` processes at once."""
    made = 0
    try:
        for _ in range(int(count)):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            made += 1
    except OSError:
        return False, f"stopped at {made} processes"
    return True, f"made {made} processes"


def try_allocate(size_bytes: str) -> tuple[bool, str]:
    """Allocate that much memory."""
    return len(bytearray(int(size_bytes))) > 0, "allocated"


def try_grow(path: str, size_bytes: str) -> tuple[bool, str]:
    """Write a file of that size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open(path, "wb") as file:
        file.truncate(int(size_bytes))
    return True, "grew the file"


def try_flood(size_bytes: str) -> tuple[bool, str]:
    """Write that much to standard output."""
    chunk = b"x" * (1 << 20)
    for _ in range(int(size_bytes) >> 20):
        os.write(1, chunk)
    return True, "flooded"


def try_linger(path: str) -> tuple[bool, str]:
    """Leave a process in a session of its own that goes on touching a file, then wait."""
    if os.fork() == 0:
        os.setsid()
        while True:
            Path(path).touch()
            time.sleep(0.02)
    time.sleep(60)
    return True, "lingered"


if __name__ == "__main__":
    main()
