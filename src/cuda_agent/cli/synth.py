"""Make tasks: compose programs of torch operators, filter them, and write a data set with its card.

`cuda-agent synth audit FILE` checks a data set instead, ours or the published CUDA-Agent-Ops-6K.
`cuda-agent synth share FILE RUN` writes into the card beside FILE what share of its tasks a run verified and
won, say `cuda-agent run FILE#heldout:100 --policy expert --out RUN`.

Exit status: 0 done; 1 an audit found faults; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

from pathlib import Path

import tyro

from cuda_agent.cli.synth_make import MakeOptions, make_dataset
from cuda_agent.cli.synth_report import audit_dataset
from cuda_agent.cli.synth_share import share_dataset
from cuda_agent.errors import UserError
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.synthesis.similarity import load_kernelbench


class SynthConfig(MakeOptions):
    """What to make, or to audit."""

    action: tyro.conf.Positional[tuple[str, ...]] = ()
    """Nothing, to make tasks; or `audit FILE`; or `share FILE RUN`."""
    run: bool = True
    """In an audit, also run every program, in the sandbox."""


def run_synth(config: SynthConfig) -> int:
    """Make a data set, or audit one."""
    kernelbench = load_kernelbench(config.kernelbench) if config.kernelbench else {}
    sandbox = build_sandbox(config.sandbox)
    match config.action:
        case ():
            return make_dataset(config, kernelbench=kernelbench, sandbox=sandbox)
        case ("audit", file):
            runs_in = sandbox if config.run else None
            return audit_dataset(Path(file), recipe=config.recipe, kernelbench=kernelbench, sandbox=runs_in)
        case ("share", file, run):
            return share_dataset(Path(file), Path(run))
        case words:
            raise UserError(
                f"synth takes nothing, or `audit FILE`, or `share FILE RUN`, and not {' '.join(words)!r}"
            )
