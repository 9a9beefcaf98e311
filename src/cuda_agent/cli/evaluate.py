"""Judge a submission made elsewhere: a folder with model_new.py and kernels/.

Exit status: 0 verified and timed; 1 it was not; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from cuda_agent.agent.outcome import is_verified
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.target import choose_target
from cuda_agent.config import Config
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.render import RewardLine, render_evaluation
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target


class EvaluateConfig(Config):
    """What to judge."""

    task: tyro.conf.Positional[Path]
    """The task file."""
    submission: tyro.conf.Positional[Path]
    """The submission's folder."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly it is judged."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the whole evaluation as JSON, with all raw times."""


def run_evaluate(config: EvaluateConfig) -> int:
    """Judge one submission and print what was found."""
    target = choose_target(config.target)
    setting = Setting(
        task=load_task(config.task),
        target=target,
        sandbox=build_sandbox(config.sandbox),
        policy=load_policy(config.judge),
    )
    submission = freeze_submission(config.submission)
    with setting.open_judge() as judge:
        evaluation = evaluate(submission, setting=setting, judge=judge)
    if config.as_json:
        print(evaluation.model_dump_json(indent=1))
    else:
        print(render_evaluation(evaluation, reward_line=RewardLine.FINAL))
    return ExitCode.DONE if is_verified(evaluation) else ExitCode.NOT_VERIFIED
