"""`cuda-agent bench judge SUITE SOLUTIONS`: solutions made elsewhere, judged and told."""

from pathlib import Path

from cuda_agent.bench.judged import SOLUTIONS, JudgedConfig, judge_solutions, list_results, name_try
from cuda_agent.bench.solutions import FoundSolutions, find_solutions
from cuda_agent.cli.batch import show_results
from cuda_agent.cli.bench_report import describe_suite, report_run
from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.pool import plan_workers
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.rundir import RunDir
from cuda_agent.workers.item import OutcomeStatus
from cuda_agent.workers.worker_pool import WorkerPool


def judge_suite(config: JudgedConfig, solutions: Path, *, out: Path | None, resume: Path | None) -> int:
    """Judge what the folder does not hold yet under each policy, and tell what it amounts to.

    Raises:
        UserError: there are no solutions, or the run's folder cannot be used.
    """
    found = find_solutions(solutions, config.suite)
    describe_suite(config.suite)
    _describe_solutions(found, config)
    with open_run("bench-judge", config, out=out, resume=resume) as run:
        tell_run(run)
        run.write_text(SOLUTIONS, found.listed.model_dump_json(indent=1))
        failed = _judge(found, config, run=run)
        code = report_run(run.path)
    return ExitCode.INFRASTRUCTURE if failed else code


def _judge(found: FoundSolutions, config: JudgedConfig, *, run: RunDir) -> bool:
    """Judge what is left to be judged; whether the machine failed one."""
    if not found.pairs:
        return False
    console = build_console()
    names = {name_try(judge, pair.pair_id) for judge in config.judges for pair in found.pairs}
    done = {name for name, result in list_results(run.path).items() if result.status is OutcomeStatus.DONE}
    with WorkerPool(plan_workers(config.target)) as pool:
        results = judge_solutions(found, config, pool=pool, run=run)
        show_results(results, left=len(names - done), console=console)
    results_by_name = list_results(run.path)
    return any(
        results_by_name[name].status is not OutcomeStatus.DONE for name in names & results_by_name.keys()
    )


def _describe_solutions(found: FoundSolutions, config: JudgedConfig) -> None:
    tasks = {solution.task_id for solution in found.listed.solutions}
    joined = f"{len(found.pairs)} for {len(tasks)} of {len(config.suite.tasks)} tasks"
    print(f"solutions in {config.solutions}: {joined}")
    for left in found.listed.left_out:
        print(f"left out: {left.place}: {left.reason}")
