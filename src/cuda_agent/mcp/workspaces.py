"""The workspaces that clients have open: each with its own environment and judge, and all bounded."""

import logging
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from cuda_agent.config import Config
from cuda_agent.environment.environment import Environment
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

KEY_BYTES = 8
"""Of randomness in a workspace's key: whoever was not told it cannot act in the workspace."""

log = logging.getLogger(__name__)


class WorkspacesConfig(Config):
    """What every workspace is like, and how many there may be."""

    target: Target
    """Where kernels run."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly submissions are judged."""
    max_open: int = 4
    """How many may be open at once; each keeps a judge in memory, about 1 GiB."""
    idle_s: float = 1800.0
    """How long one must have been idle before it gives way to a new one."""


class OpenedTask(Config):
    """What a workspace's folder is for; a run of one task, as far as others are concerned."""

    tasks: tuple[Task, ...]
    """The one task."""
    workspaces: WorkspacesConfig
    """How it was opened."""


class _Place:
    """An open workspace, or one that is being opened."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.environment: Environment | None = None
        self.users = 0
        self.used_s = time.monotonic()


class OpenWorkspaces:
    """Opens, lends and closes workspaces, for any number of threads. Use it as a context."""

    def __init__(self, config: WorkspacesConfig, *, sandbox: Sandbox, folder: Path) -> None:
        """`folder` keeps what is submitted, in a run folder for each workspace."""
        self.config = config
        """What every workspace is like."""
        self._sandbox = sandbox
        self._folder = folder
        self._lock = threading.Lock()
        self._places: dict[str, _Place] = {}
        self._is_closed = False

    def open(self, task: Task) -> str:
        """Lay out a task and start its judge; the key of the workspace.

        Raises:
            UserError: as many are open as may be, and none has been idle for long.
        """
        key, place = secrets.token_hex(KEY_BYTES), _Place()
        with self._lock:
            stale = self._reserve(key, place)
        if stale is not None:
            stale.stack.close()
        try:
            self._enter(place, task, folder=self._folder / f"{task.name}-{key[:6]}")
        except BaseException:
            self.close(key)
            raise
        return key

    @contextmanager
    def use(self, key: str) -> Iterator[Environment]:
        """Lend an open workspace's environment.

        Raises:
            UserError: there is none with this key.
        """
        with self._lock:
            place = self._places.get(key)
            if place is None or place.environment is None:
                raise UserError(
                    "no such workspace is open: open a task, and give the workspace that it names"
                )
            place.users += 1
        try:
            yield place.environment
        finally:
            with self._lock:
                place.users -= 1
                place.used_s = time.monotonic()

    def close(self, key: str) -> None:
        """End a workspace and its judge; what was submitted stays in its folder."""
        with self._lock:
            place = self._places.pop(key, None)
        if place is not None:
            place.stack.close()

    def __enter__(self) -> Self:
        """Nothing is open yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every workspace; none can be opened any more."""
        with self._lock:
            self._is_closed = True
            keys = list(self._places)
        with ExitStack() as stack:
            for key in keys:
                stack.callback(self.close, key)

    def _reserve(self, key: str, place: _Place) -> _Place | None:
        """Note a new place; the one that must give way for it, if one must."""
        if self._is_closed:
            raise UserError("the server is ending: no workspace can be opened any more")
        stale = None
        if len(self._places) >= self.config.max_open:
            stale = self._take_stale()
        self._places[key] = place
        return stale

    def _take_stale(self) -> _Place:
        idle = [key for key, place in self._places.items() if place.environment and not place.users]
        oldest = min(idle, key=lambda key: self._places[key].used_s, default=None)
        if oldest is None or time.monotonic() - self._places[oldest].used_s < self.config.idle_s:
            raise UserError(
                f"{self.config.max_open} workspaces are open, and no more may be: close one that is done with"
            )
        log.info("workspace %s was idle, and gives way to another", oldest)
        return self._places.pop(oldest)

    def _enter(self, place: _Place, task: Task, *, folder: Path) -> None:
        opened = OpenedTask(tasks=(task,), workspaces=self.config)
        with ExitStack() as stack:
            run = stack.enter_context(RunDir.create(folder, opened))
            environment = Environment(
                task,
                target=self.config.target,
                sandbox=self._sandbox,
                policy=load_policy(self.config.judge),
                folder=run.path,
            )
            stack.enter_context(environment)
            with self._lock:
                if place not in self._places.values():
                    raise UserError("the server is ending: no workspace can be opened any more")
                place.stack.push(stack.pop_all())
                place.environment = environment
