"""Judge submissions made elsewhere: folders with model_new.py and kernels/.

One: `cuda-agent evaluate TASK.py FOLDER`. Many: `cuda-agent evaluate PAIRS`, where PAIRS is a .jsonl list of
`{"id": ..., "task": FILE.py, "submission": FOLDER}`, or a tree of folders in which each model_new.py has a
model.py beside or above it. Many are built on all cores and judged one at a time on each device; results are
kept as they come (results.jsonl, results.parquet), and --resume goes on where a run was interrupted.

Exit status: 0 verified and timed (many: judged); 1 not; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

import json
from pathlib import Path
from typing import Annotated, Literal

import tyro

from cuda_agent.agent.outcome import is_verified
from cuda_agent.cli.batch import ManyOptions, evaluate_many
from cuda_agent.cli.console import build_error_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.job_source import load_one_task
from cuda_agent.cli.stage_progress import StageProgress
from cuda_agent.cli.target import choose_target
from cuda_agent.environment.batch import BatchConfig
from cuda_agent.environment.build_cache import find_build_cache
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.render import RewardLine, render_evaluation
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target


class EvaluateConfig(ManyOptions):
    """What to judge."""

    task: tyro.conf.Positional[Path]
    """The task file, or FILE.parquet#ID; or, without a submission, the list or tree of many."""
    submission: tyro.conf.Positional[Path | None] = None
    """The submission's folder, or one Python file in KernelBench's form (with load_inline)."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly it is judged."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the whole evaluation as JSON, with all raw times."""


def run_evaluate(config: EvaluateConfig) -> int:
    """Judge one submission, or many, and print what was found."""
    target = choose_target(config.target)
    if config.submission is None:
        batch = BatchConfig(
            pairs=config.task.absolute(), target=target, policy=config.judge, containment=config.sandbox
        )
        return evaluate_many(batch, config)
    setting = Setting(
        task=load_one_task(config.task),
        target=target,
        sandbox=build_sandbox(config.sandbox),
        policy=load_policy(config.judge),
        cache=find_build_cache(),
    )
    submission = freeze_submission(config.submission)
    with setting.open_judge() as judge, StageProgress(build_error_console()) as progress:
        evaluation = evaluate(submission, setting=setting, judge=judge, on_stage=progress.begin)
    whole = json.dumps(evaluation.model_dump(mode="json"), indent=1)
    print(whole if config.as_json else render_evaluation(evaluation, reward_line=RewardLine.FINAL))
    return ExitCode.DONE if is_verified(evaluation) else ExitCode.NOT_VERIFIED
