"""What an agent is told before its first turn."""

import re
from enum import StrEnum
from importlib import resources

import jinja2

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.expert.study import SOURCES, list_headers
from cuda_agent.judge.policy import Precision
from cuda_agent.llm.chat import Message, Role
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_LANGUAGES = {Target.CPU: "C++", Target.CUDA: "CUDA C++"}
_SOURCES = {Target.CPU: "*.cpp", Target.CUDA: "*.cu` and `*.cpp"}


class PromptForm(StrEnum):
    """How much an agent is told and given before its first turn."""

    FULL = "full"
    """Workspace, commands, rules and aim, for any model that can read."""
    BRIEF = "brief"
    """A few sentences, and the expert's headers in `kernels/`: for a small model that learnt these."""
    SINGLE = "single"
    """Likewise, for one reply with all files, which is submitted as it is."""

    @property
    def has_headers(self) -> bool:
        """Whether the expert's headers are in place."""
        return self is not PromptForm.FULL


def build_prompt(
    task: Task,
    *,
    target: Target,
    limits: EpisodeLimits,
    form: PromptForm = PromptForm.FULL,
    precision: Precision = Precision.HIGHEST,
) -> tuple[Message, Message]:
    """The system message (workspace, commands, rules, aim) and the user message (target and reference)."""
    ending = "" if form is PromptForm.FULL else f"_{form.value}"
    system = _render(
        f"system{ending}",
        language=_LANGUAGES[target],
        sources=_SOURCES[target],
        source_file=SOURCES[target],
        headers=list_headers(target),
        turns=str(limits.turns),
        command_s=f"{limits.command_s:g}",
        precision_rule=f" {precision.rule}" if precision.rule else "",
    )
    source = task.source.rstrip("\n")
    user = _render(f"user{ending}", target=target.value, source=source, fence=_build_fence(source))
    return Message(role=Role.SYSTEM, content=system), Message(role=Role.USER, content=user)


def _build_fence(source: str) -> str:
    """Three backticks, or one more than the source's longest run of them."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", source)), default=0))


def _render(name: str, **values: str | tuple[str, ...]) -> str:
    path = resources.files("cuda_agent.agent").joinpath("prompts", f"{name}.jinja")
    # The text is for a model, not a browser: nothing to escape.
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(
        path.read_text(encoding="utf-8")
    )
    return template.render(values)
