"""What came of a run's episodes, on the disk while they are held, at a cost that grows as they do."""

from collections.abc import Iterable, Sequence

from cuda_agent.agent.outcome import JobOutcome, Outcome, combine
from cuda_agent.environment.winner import EVALUATIONS
from cuda_agent.rundir import RunDir

RESULTS = "results.json"
"""Where a run keeps what came of it."""
FRESH_SHARE = 0.1
"""`results.json` is written anew once this share of what it tells is new."""


class Results:
    """Takes each outcome as it comes, and writes what follows from it.

    The evaluation that counts for a task is written at once. `results.json` is written as a whole, so not
    after each episode of many: what it lacks when the process is killed, the trajectories have.
    """

    def __init__(self, run: RunDir, order: Sequence[tuple[str, int]], *, held: Iterable[Outcome]) -> None:
        """Begin with the outcomes of episodes that the run holds; `order` is the job's, by their keys."""
        self._run = run
        self._order = order
        self._outcomes: dict[tuple[str, int], Outcome] = {}
        self._best: dict[str, Outcome] = {}
        self._failures: dict[str, str] = {}
        self._new = 0
        for outcome in held:
            self._note(outcome)
        # An earlier process may have been killed before it wrote what it held.
        self._unwritten = set(self._best)

    def __contains__(self, key: object) -> bool:
        """Whether the outcome of a task's episode is known."""
        return key in self._outcomes

    def add(self, outcome: Outcome) -> None:
        """An episode was held.

        Raises:
            InfrastructureError: the disk refuses.
        """
        if self._note(outcome):
            self._write_evaluation(outcome.task_id)
        self._count()

    def fail(self, task_id: str, reason: str) -> None:
        """The machine kept an episode from being held.

        Raises:
            InfrastructureError: the disk refuses.
        """
        self._failures[task_id] = reason
        self._count()

    def finish(self) -> JobOutcome:
        """Write what is not written, and give all of it.

        Raises:
            InfrastructureError: the disk refuses.
        """
        for task_id in sorted(self._unwritten):
            self._write_evaluation(task_id)
        return self._write()

    def _note(self, outcome: Outcome) -> bool:
        """Whether the outcome is the best of its task so far; of equals that is the first episode."""
        self._outcomes[outcome.task_id, outcome.episode] = outcome
        best = self._best.get(outcome.task_id)
        is_best = best is None or (outcome.rank, -outcome.episode) > (best.rank, -best.episode)
        if is_best:
            self._best[outcome.task_id] = outcome
        return is_best

    def _count(self) -> None:
        self._new += 1
        if self._new >= FRESH_SHARE * (len(self._outcomes) + len(self._failures)):
            self._write()

    def _write(self) -> JobOutcome:
        outcomes = [self._outcomes[key] for key in self._order if key in self._outcomes]
        result = combine(outcomes, failures=self._failures)
        self._run.write_text(RESULTS, result.model_dump_json(indent=1))
        self._new = 0
        return result

    def _write_evaluation(self, task_id: str) -> None:
        final = self._best[task_id].final
        if final is not None:
            self._run.write_text(f"{EVALUATIONS}/{task_id}.json", final.model_dump_json(indent=1))
        self._unwritten.discard(task_id)
