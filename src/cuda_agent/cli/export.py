"""Turn the winning kernel of a run into an installable package, with its test and its measured times.

Exit status: 0 written; 2 wrong use, or nothing was verified; 3 the machine failed.
"""

import shlex
from pathlib import Path
from typing import Literal

import tyro

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.target import choose_target
from cuda_agent.config import Config
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.export import export_package
from cuda_agent.environment.submission import MODEL_FILE
from cuda_agent.environment.winner import Winner, find_winner, judge_folder
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.printable import make_printable
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.tasks.place import load_one_task
from cuda_agent.tasks.target import Target


class ExportConfig(Config):
    """What to export."""

    source: tyro.conf.Positional[Path]
    """A run's folder; or a folder with model_new.py and kernels/, which is judged first."""
    dest: tyro.conf.Positional[Path]
    """The package's folder, new or empty."""
    task: str = ""
    """A run's task by name or id, needed where several were verified; for other folders the task's file."""
    target: Target | None = None
    """For other folders: where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    judge: Literal["strict", "paper"] = "strict"
    """For other folders: how strictly the submission is judged."""


def run_export(config: ExportConfig) -> int:
    """Write the package and say what to do with it."""
    sandbox = build_sandbox(config.sandbox)
    winner = _find(config, sandbox)
    command = ["cuda-agent", "export", str(config.source), str(config.dest)]
    command += ["--task", config.task] if config.task else []
    exported = export_package(winner, config.dest, sandbox=sandbox, command=shlex.join(command))
    name = make_printable(winner.task.name)
    print(f"{name}, submission {winner.submission.sha}: written to {exported.folder}")
    print(f"  pip install {shlex.quote(str(exported.folder))}")
    print(f"  python -m {exported.import_name}")
    return ExitCode.DONE


def _find(config: ExportConfig, sandbox: Sandbox) -> Winner:
    if not (config.source / MODEL_FILE).is_file():
        return find_winner(config.source, config.task or None)
    if not config.task:
        raise UserError(f"{config.source} is a submission; name its task's file: --task TASK.py")
    setting = Setting(
        task=load_one_task(Path(config.task)),
        target=choose_target(config.target),
        sandbox=sandbox,
        policy=load_policy(config.judge),
    )
    return judge_folder(config.source, setting)
