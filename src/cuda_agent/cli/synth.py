"""Make tasks: compose programs of torch operators, filter them, and write a data set with its card.

`cuda-agent synth audit FILE` checks a data set instead, ours or the published CUDA-Agent-Ops-6K.

Exit status: 0 done; 1 an audit found faults; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

from pathlib import Path
from typing import Annotated

import tyro

from cuda_agent.cli.synth_report import audit_dataset, finish_dataset, show_crawl, show_fate
from cuda_agent.config import Config
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.rundir import RunDir, build_default_path
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.synthesis.crawl import crawl
from cuda_agent.synthesis.pipeline import Workshop, build_job, run_synthesis
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import load_kernelbench


class SynthConfig(Config):
    """What to make, or to audit."""

    action: tyro.conf.Positional[tuple[str, ...]] = ()
    """Nothing, to make tasks; or `audit FILE`."""
    count: int = 10
    """How many tasks to keep."""
    recipe: Annotated[Recipe, tyro.conf.arg(name="")] = Recipe()
    """What is made."""
    kernelbench: Path | None = None
    """Folder of KernelBench tasks: nothing that is too like one of them is kept."""
    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: bool = False
    """Go on with the run in --out; --count may be larger than it was."""
    workers: int = 1
    """Candidates that are tried at once; whoever is timed is alone on the device."""
    run: bool = True
    """In an audit, also run every program, in the sandbox."""
    sandbox: Containment = Containment.AUTO
    """How programs are contained."""


def run_synth(config: SynthConfig) -> int:
    """Make a data set, or audit one."""
    kernelbench = load_kernelbench(config.kernelbench) if config.kernelbench else {}
    sandbox = build_sandbox(config.sandbox)
    match config.action:
        case ("audit", file):
            runs_in = sandbox if config.run else None
            return audit_dataset(Path(file), recipe=config.recipe, kernelbench=kernelbench, sandbox=runs_in)
        case ():
            pass
        case words:
            raise UserError(f"synth takes nothing, or `audit FILE`, and not {' '.join(words)!r}")
    if config.resume and config.out is None:
        raise ConfigError("--resume needs --out, the folder of the run to go on with")
    found = crawl()
    show_crawl(found)
    job = build_job(config.recipe, found.operators, kernelbench=config.kernelbench)
    shop = Workshop(
        job=job, operators=found.operators, kernelbench=kernelbench, sandbox=sandbox, workers=config.workers
    )
    folder = config.out or build_default_path("synth")
    with RunDir.resume(folder, job) if config.resume else RunDir.create(folder, job) as run:
        fates = run_synthesis(shop, run, count=config.count, observe=show_fate)
        return finish_dataset(fates, run, recipe=config.recipe, operators=found.operators)
