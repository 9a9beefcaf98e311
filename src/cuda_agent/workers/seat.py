"""A place in a pool where one worker after another sits."""

import threading

from cuda_agent.workers.worker import PROBE, Worker, WorkerError, WorkerMaker

MAX_STARTS = 3
PROBE_LIMIT_S = 300.0


class Seat:
    """Keeps a worker, starts another when it has left, and finds out whether it is well."""

    def __init__(self, maker: WorkerMaker) -> None:
        """Nobody sits here yet."""
        self.cause = ""
        """Why nobody can sit here any more; empty while somebody can."""
        self._maker = maker
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._is_over = False

    def sit(self) -> Worker | None:
        """The worker that sits here, or a new one that is well; None when there can be none."""
        causes: list[str] = []
        while self._worker is None and not self._is_over and len(causes) < MAX_STARTS:
            try:
                worker = self._maker()
                with self._lock:
                    self._worker = worker
                worker.call(PROBE, {}, limit_s=PROBE_LIMIT_S)
            except (WorkerError, OSError) as error:
                causes.append(str(error))
                self.leave()
        if self._worker is None and causes:
            self.cause = causes[0]
        return self._worker

    def probe(self) -> None:
        """Ask the worker whether it is well; a sick one leaves, and none takes its place."""
        if self._worker is None:
            return
        try:
            self._worker.call(PROBE, {}, limit_s=PROBE_LIMIT_S)
        except WorkerError as error:
            self.cause = str(error)
            self.leave()

    def leave(self) -> None:
        """End the worker that sits here."""
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def end(self) -> None:
        """End the worker, whatever it does, and let nobody sit here again."""
        self._is_over = True
        self.leave()
