"""`cuda-agent evaluate` over many: progress while it goes on, a table when it is done."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.pace import Pace
from cuda_agent.cli.pool import PoolOptions, Workers, plan_workers
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.environment.batch import BatchConfig, BatchResult, evaluate_pairs, read_results, write_table
from cuda_agent.environment.pairs import Pair, read_pairs
from cuda_agent.printable import make_printable
from cuda_agent.rundir import RunDir
from cuda_agent.workers.item import OutcomeStatus
from cuda_agent.workers.worker_pool import WorkerPool

LINE_S = 10.0
"""How often a line is printed where there is no terminal."""


class ManyOptions(PoolOptions):
    """What is asked of a run over many submissions."""

    out: Path | None = None
    """Of many: the run's folder; without it a fresh one in runs/."""
    resume: Path | None = None
    """Of many: the folder of a run to go on with."""


def evaluate_many(config: BatchConfig, options: ManyOptions) -> int:
    """Evaluate all pairs, or those that the resumed run does not hold yet, and show how it goes."""
    pairs, workers = read_pairs(config.pairs), plan_workers(config.target, options)
    with open_run("evaluate", config, out=options.out, resume=options.resume) as run:
        tell_run(run)
        return _run(pairs, config, run=run, workers=workers)


def _run(pairs: Sequence[Pair], config: BatchConfig, *, run: RunDir, workers: Workers) -> int:
    console = build_console()
    finished = {result.pair_id for result in read_results(run) if result.status is OutcomeStatus.DONE}
    with WorkerPool(workers) as pool:
        left = len(pairs) - len(finished & {pair.pair_id for pair in pairs})
        show_results(evaluate_pairs(pairs, config, pool=pool, run=run), left=left, console=console)
        for cause in pool.causes:
            console.print(f"left out: {escape(make_printable(cause))}")
    table = write_table(run)
    results = read_results(run)
    console.print(f"{len(results)} results in {run.path}: {_count(results)}", markup=False)
    for line in _list_faulty_tasks(results):
        console.print(line, markup=False, soft_wrap=True)
    console.print(f"as a table: {table}", markup=False)
    failed = any(result.status is not OutcomeStatus.DONE for result in results)
    return ExitCode.INFRASTRUCTURE if failed else ExitCode.DONE


def show_results(results: Iterable[BatchResult], *, left: int, console: Console) -> None:
    """Show results as they come, of which so many are left to come, with how long that may take."""
    pace, shown_s = Pace(left), 0.0
    counts: Counter[str] = Counter()
    with console.status("starting workers") as status:
        for number, result in enumerate(results, start=1):
            counts[result.verdict] += 1
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
            line = f"{pace.tell(number)}: {verdicts}"
            status.update(escape(line))
            if not console.is_terminal and (pace.elapsed_s - shown_s > LINE_S or number == left):
                shown_s = pace.elapsed_s
                console.print(line, markup=False, soft_wrap=True)
            if result.status is not OutcomeStatus.DONE:
                text = make_printable(f"{result.pair_id}: {result.status.value}: {result.reason}")
                console.print(text, markup=False, soft_wrap=True)


def _list_faulty_tasks(results: Iterable[BatchResult]) -> Iterator[str]:
    """A line for each task that is not judged, and why; its submissions are not counted as failures."""
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        if result.evaluation is not None and result.evaluation.is_task_at_fault:
            counts[result.evaluation.task_id, result.evaluation.reason] += 1
    for (task_id, reason), count in counts.items():
        text = f"{task_id}: the task is at fault, not its {count} submission{'s' * (count > 1)}: {reason}"
        yield make_printable(text)


def _count(results: Iterable[BatchResult]) -> str:
    rewards = Counter("none" if result.reward is None else f"{result.reward:g}" for result in results)
    return ", ".join(f"{count} x reward {reward}" for reward, count in sorted(rewards.items()))
