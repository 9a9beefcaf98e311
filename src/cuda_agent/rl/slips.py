"""An expert's answers as a beginner would have given them, with one slip each.

Imitation stands in for a base model's pretraining, and a base model has read worse code than an expert's. A
policy that only knows the expert's answer has nothing left to choose, and PPO nothing to improve.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.environment.submission import MODEL_FILE
from cuda_agent.expert.study import SOURCES
from cuda_agent.llm.chat import ToolCall
from cuda_agent.tasks.target import Target


@dataclass(frozen=True)
class Slip:
    """A mistake, as a change of what a file says."""

    why: str
    """What it is, and what comes of it."""
    path: str
    """The file."""
    pattern: str
    """What is changed, a regular expression; every line where it fits."""
    written: str
    """What is written instead, with the pattern's groups."""


SLIPS = (
    Slip(
        "one thread does all, while the other cores stand still: right, and slow",
        SOURCES[Target.CPU],
        r"^(#pragma omp parallel)$",
        r"\1 num_threads(1)",
    ),
    Slip(
        "every second chunk is left out: wrong",
        SOURCES[Target.CPU],
        r"start \+= 8192\b",
        "start += 16384",
    ),
    Slip(
        "an operator of torch has the last word: against the rules",
        MODEL_FILE,
        r"return (\w+)$",
        r"return torch.abs(\1)",
    ),
)
"""The first two are of the expert's kernels for the cpu, the last of any answer with one output."""


def add_slips(trajectory: Trajectory) -> Iterator[Trajectory]:
    """The episode, and its first reply once with each slip that fits.

    What the tools would have answered to a slip is not known, so such an episode ends with the reply.
    """
    yield trajectory
    for slip in SLIPS:
        first = trajectory.turns[0]
        calls = tuple(_change(call, slip) for call in first.reply.message.tool_calls)
        if calls != first.reply.message.tool_calls:
            message = first.reply.message.model_copy(update={"tool_calls": calls})
            reply = first.reply.model_copy(update={"message": message})
            turn = first.model_copy(update={"reply": reply, "observations": ()})
            yield trajectory.model_copy(update={"turns": (turn,), "submissions": (), "final": None})


def _change(call: ToolCall, slip: Slip) -> ToolCall:
    """A call that creates the slip's file, with the slip in it; any other call as it is."""
    arguments = call.arguments or {}
    text = arguments.get("file_text")
    if arguments.get("path") != slip.path or not isinstance(text, str):
        return call
    changed = re.sub(slip.pattern, slip.written, text, flags=re.MULTILINE)
    return call.model_copy(update={"arguments": {**arguments, "file_text": changed}})
