"""`cuda-agent bench SUITE`: the episodes of a whole suite, held and told."""

from pathlib import Path

from cuda_agent.agent.job import Job, run_job
from cuda_agent.agent.policy import build_policy
from cuda_agent.bench.load import SUITE
from cuda_agent.bench.suite import Suite
from cuda_agent.cli.bench_report import describe_suite, report_run
from cuda_agent.cli.console import build_console
from cuda_agent.cli.progress import ConsoleProgress
from cuda_agent.cli.results import choose_exit_code
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.sandbox.build import build_sandbox


def hold_suite(suite: Suite, job: Job, *, out: Path | None, resume: Path | None, concurrency: int) -> int:
    """Hold the episodes that the run does not hold yet, and tell what they amount to.

    The folder is that of an ordinary run, so `show` and `export` read it too, with the suite beside it.

    Raises:
        ConfigError: the folder cannot be used for this job.
    """
    episode = job.episode
    sandbox = build_sandbox(episode.sandbox)
    chat = build_policy(
        episode.policy,
        target=episode.target,
        sandbox=sandbox,
        endpoint=episode.endpoint,
        local=episode.local,
    )
    describe_suite(suite)
    with open_run("bench", job, out=out, resume=resume) as run:
        tell_run(run)
        run.write_text(SUITE, suite.model_dump_json())
        with ConsoleProgress(build_console()) as progress:
            result = run_job(
                job, chat=chat, sandbox=sandbox, run=run, observer=progress, concurrency=concurrency
            )
    report_run(run.path)
    return choose_exit_code(result)
