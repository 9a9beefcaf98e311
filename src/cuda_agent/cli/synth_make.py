"""`cuda-agent synth` without an action: makes a data set in a run's folder."""

import math
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import tyro
from pydantic import PositiveFloat, PositiveInt

from cuda_agent.agent.policy import build_policy
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.cli.synth_ledger import Ledger
from cuda_agent.cli.synth_report import show_crawl, show_fate, show_funnel, show_rate
from cuda_agent.config import Config
from cuda_agent.errors import ConfigError
from cuda_agent.llm.endpoint import EndpointConfig
from cuda_agent.llm.local_config import LocalConfig
from cuda_agent.llm.patient import PatientChat
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.synthesis.compose import build_composer, choose_operators
from cuda_agent.synthesis.compose_llm import LlmComposer
from cuda_agent.synthesis.crawl import crawl
from cuda_agent.synthesis.fate import Fate
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.pipeline import Workshop, build_job, run_synthesis
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Print

_RETRIES = 5


class Composer(StrEnum):
    """Who writes the programs."""

    OPERATORS = "operators"
    """This package, from the operators that it found; the same seed gives the same programs."""
    LLM = "llm"
    """The language model of --policy, which is shown the operators."""


class MakeOptions(Config):
    """How a data set is made."""

    count: PositiveInt = 10
    """How many tasks to keep."""
    recipe: Annotated[Recipe, tyro.conf.arg(name="")] = Recipe()
    """What is made."""
    composer: Composer = Composer.OPERATORS
    """Who writes the programs."""
    policy: str = ""
    """For --composer llm: the model, `openai:MODEL`, `local:FOLDER` or `scripted:FILE`."""
    endpoint: Annotated[EndpointConfig, tyro.conf.arg(name="")] = EndpointConfig()
    """Where the model of `openai:MODEL` is, and how it is asked."""
    local: LocalConfig = LocalConfig()
    """How the checkpoint of `local:FOLDER` is run."""
    kernelbench: Path | None = None
    """Folder of KernelBench tasks: nothing that is too like one of them is kept."""
    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: Path | None = None
    """The folder of a run to go on with; --count may be larger than it was."""
    workers: PositiveInt = 1
    """Candidates that are tried at once (on cuda one a core); whoever is timed is alone on the device."""
    minutes: PositiveFloat | None = None
    """Stop after so many, with what is made by then; --resume goes on."""
    sandbox: Containment = Containment.AUTO
    """How programs are contained."""


def make_dataset(options: MakeOptions, *, kernelbench: dict[str, Print], sandbox: Sandbox) -> int:
    """Make tasks until enough are kept or the time is over; write them and their card."""
    start_s = time.monotonic()
    is_llm = options.composer is Composer.LLM
    if is_llm is not options.policy.startswith(("openai:", "local:", "scripted:")):
        raise ConfigError(
            "--composer llm and a --policy belong together: openai:MODEL, local:FOLDER or scripted:FILE"
        )
    found = crawl()
    show_crawl(found)
    operators = choose_operators(found.operators, options.recipe.operators)
    job = build_job(options.recipe, operators, kernelbench=options.kernelbench, composer=options.policy)
    compose = _build_composer(options, operators, sandbox=sandbox)
    shop = Workshop(
        job=job, compose=compose, kernelbench=kernelbench, sandbox=sandbox, workers=options.workers
    )
    with open_run("synth", job, out=options.out, resume=options.resume) as run:
        tell_run(run)
        limit_s = math.inf if options.minutes is None else 60 * options.minutes + start_s - time.monotonic()
        ledger = Ledger(run, recipe=options.recipe, found=found)
        observe = ledger.observe(show_fate)
        ledger.write(ledger.fates)
        try:
            fates = run_synthesis(shop, run, count=options.count, observe=observe, limit_s=limit_s)
        except BaseException:  # interrupted, or the machine failed: what is made is there all the same
            ledger.write(ledger.fates)
            raise
        ledger.write(fates)
        show_rate(fates, count=options.count, seconds=time.monotonic() - start_s)
        show_funnel(fates, run)
    return ExitCode.DONE


def _build_composer(
    options: MakeOptions, operators: tuple[Operator, ...], *, sandbox: Sandbox
) -> Callable[[int], Fate]:
    recipe = options.recipe
    if options.composer is Composer.OPERATORS:
        return build_composer(operators, recipe)
    chat = build_policy(
        options.policy,
        target=recipe.target,
        sandbox=sandbox,
        endpoint=options.endpoint,
        local=options.local,
    )
    return LlmComposer(PatientChat(chat, retries=_RETRIES), operators, recipe=recipe)
