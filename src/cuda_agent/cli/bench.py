"""Run a benchmark: one loop for every policy, over a suite of tasks, in numbers that say what they are of.

`cuda-agent bench SUITE --policy P` holds the episodes, where SUITE is a KernelBench checkout or its parquet
files, a data set, or a folder of tasks. `bench judge SUITE SOLUTIONS` judges solutions made elsewhere: a
folder of KernelBench's generations, of work folders, or of ours; with `--judges strict paper` under both
policies. `bench baselines SUITE` times eager and torch.compile with no submission near. `bench gate SUITE`
tells which tasks are worth judging, with no GPU. Each of these goes on with `--resume RUN`.
`bench report RUN` tells what a run amounts to, also one of `run` or `evaluate`. `bench compare A B` sets two
runs side by side, task by task.

Exit status: 0 done; 1 a task was not verified, or failed the gate; 2 wrong use; 3 the machine failed;
130 interrupted.
"""

from pathlib import Path

from cuda_agent.cli.bench_baselines import time_suite
from cuda_agent.cli.bench_config import BenchConfig
from cuda_agent.cli.bench_judge import judge_suite
from cuda_agent.cli.bench_report import compare_runs, gate_suite, report_run
from cuda_agent.cli.bench_run import hold_suite
from cuda_agent.errors import UserError
from cuda_agent.sandbox.build import build_sandbox

ACTIONS = ("judge", "baselines", "gate", "report", "compare")
USAGE = "SUITE, judge SUITE SOLUTIONS, baselines SUITE, gate SUITE, report RUN or compare A B"


def run_bench(config: BenchConfig) -> int:
    """Do what the words ask for."""
    out, resume = config.out, config.resume
    match config.action:
        case ("judge", place, solutions):
            judged = config.build_judged(config.load_suite(place), Path(solutions))
            return judge_suite(judged, Path(solutions), out=out, resume=resume)
        case ("baselines", place):
            return time_suite(config.build_baselines(config.load_suite(place)), out=out, resume=resume)
        case ("gate", place):
            sandbox = build_sandbox(config.sandbox)
            return gate_suite(config.load_suite(place), sandbox=sandbox, out=out, resume=resume)
        case ("report", run):
            return report_run(Path(run), gate=config.gate, gflop_per_s=config.gflops)
        case ("compare", a, b):
            return compare_runs(Path(a), Path(b))
        case (place,) if place not in ACTIONS:
            suite = config.load_suite(place)
            job = config.build_job(suite)
            return hold_suite(suite, job, out=out, resume=resume, concurrency=config.concurrency)
        case words:
            asked = f"not {' '.join(words)!r}" if words else "and there is nothing"
            raise UserError(f"bench takes {USAGE}, {asked}")
