"""Of the two children only the one that is asked runs.

Whatever the other has started stands still meanwhile, stopped from outside: a submission cannot work
while the judge waits for the reference, nor slow the baselines down, and threads that wait by spinning
(as OpenMP's do) cost the other side nothing.
"""

from cuda_agent.judge.process import ChildProcess


class Turns:
    """Who runs at present."""

    def __init__(self, *children: ChildProcess, enforced: bool) -> None:
        """All of them run, until one is given the first turn; for ever where that is not enforced."""
        self._children = children
        self._enforced = enforced
        self._running: ChildProcess | None = None

    def give(self, child: ChildProcess, *, looks_again: bool = False) -> None:
        """Let one child run and the others stand still.

        With `looks_again` the others are searched for processes that were not there when they were
        last stopped for the first time, which takes some milliseconds.
        """
        if not self._enforced or (child is self._running and not looks_again):
            return
        for other in self._children:
            if other is not child:
                other.stop(looks_again=looks_again)
        child.resume()
        self._running = child

    def end(self) -> None:
        """Let all of them run."""
        for child in self._children:
            child.resume()
        self._running = None
