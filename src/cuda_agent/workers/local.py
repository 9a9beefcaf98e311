"""A worker that is a process of this machine."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import cuda_agent
from cuda_agent.scratch import Scratch
from cuda_agent.workers.item import Answer
from cuda_agent.workers.worker import WorkerDiedError, WorkerFailedError, WorkerSilentError

_GRACE_S = 5.0


class LocalWorker:
    """A child process that serves an object; it dies with us."""

    def __init__(self, served: str, *, name: str, env: Mapping[str, str] | None = None) -> None:
        """Start a process that serves `served` (`module:Class`), with `env` added to our environment."""
        self.name = name
        package = str(Path(cuda_agent.__file__).parents[1])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self._scratch = Scratch.open()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cuda_agent.workers.child", served],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._scratch.path), **(env or {})},
            start_new_session=True,
        )
        self._unread = b""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        """See `Worker.call`."""
        line = self._ask(json.dumps({"method": method, "payload": payload}), limit_s=limit_s)
        try:
            reply = json.loads(line)
            if "error" in reply:
                raise WorkerFailedError(str(reply["error"]))
            return Answer.model_validate(reply)
        except (ValueError, TypeError, ValidationError) as error:
            self.close()
            raise WorkerDiedError(f"worker {self.name} answered nonsense: {error}") from error

    def close(self) -> None:
        """See `Worker.close`."""
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(_GRACE_S)
        self._kill()

    def _ask(self, line: str, *, limit_s: float) -> bytes:
        assert self._process.stdin is not None
        deadline_s = time.monotonic() + limit_s
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._explain_end() from None
        return self._read_line(deadline_s, limit_s=limit_s)

    def _read_line(self, deadline_s: float, *, limit_s: float) -> bytes:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(max(0.0, deadline_s - time.monotonic())):
                    self._kill()
                    raise WorkerSilentError(f"no answer within {limit_s:g} s")
                part = os.read(self._process.stdout.fileno(), 1 << 20)
                if not part:
                    raise self._explain_end()
                self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _explain_end(self) -> WorkerDiedError:
        self._kill()
        status = self._process.wait()
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return WorkerDiedError(f"worker {self.name} ended ({how})")

    def _kill(self) -> None:
        # What it runs in sandboxes has groups of its own, and ends with it.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._scratch.close()
