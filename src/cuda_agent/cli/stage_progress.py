"""How far one evaluation is: a live line on a terminal, a line for each stage elsewhere."""

import time
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cuda_agent.environment.result import Stage

TITLES = {
    Stage.RULES: "checking the rules",
    Stage.BUILD: "building",
    Stage.VERIFY: "comparing with the reference",
    Stage.PROFILE: "comparing with the reference, then timing",
}
"""What happens in a stage, for whoever waits."""


class StageProgress:
    """Tells which stage an evaluation is in, and for how long it has gone on. Use it as a context."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._start_s = time.monotonic()
        self._stack = ExitStack()

    def begin(self, stage: Stage) -> None:
        """A stage begins."""
        if self._live is not None:
            self._live.update(self._line, description=TITLES[stage])
        else:
            self._tell(TITLES[stage])

    def __enter__(self) -> Self:
        """Begin to count."""
        self._start_s = time.monotonic()
        self._live: Progress | None = None
        if self._console.is_terminal and not self._console.quiet:
            columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
            live = Progress(*columns, console=self._console, transient=True)
            self._live = self._stack.enter_context(live)
            self._line = live.add_task("starting", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the live line away, and say how long it took."""
        self._stack.close()
        if error is None:
            self._tell("done")

    def _tell(self, what: str) -> None:
        line = f"{time.monotonic() - self._start_s:5.1f} s  {what}"
        self._console.print(line, markup=False, highlight=False)
