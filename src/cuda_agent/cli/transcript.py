"""A trajectory as lines for a terminal.

Only our own lines begin at the margin: whatever model, task and kernels wrote is indented and escaped, so
that it can neither move the cursor nor pass for a line of ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cuda_agent.agent.file_history import FileHistory
from cuda_agent.agent.outcome import summarise
from cuda_agent.agent.trajectory import SubmissionRecord, Trajectory, Turn
from cuda_agent.cli.results import describe_verdict
from cuda_agent.environment.result import Evaluation
from cuda_agent.llm.chat import Message, ToolCall
from cuda_agent.printable import make_printable

SHOWN_LINES = 24
"""How many lines of one text are shown unless all are asked for."""


class Style(StrEnum):
    """How a line looks; the values are rich's."""

    HEADING = "bold"
    """Where an episode or a turn begins."""
    PLAIN = ""
    """What the model says."""
    CALL = "cyan"
    """What it asks for."""
    OUTPUT = "dim"
    """What came of it."""
    ADDED = "green"
    """A line that an edit added."""
    REMOVED = "red"
    """A line that it removed."""
    REWARD = "bold magenta"
    """What was found about a submission."""


@dataclass(frozen=True)
class Line:
    """One line."""

    text: str
    """What it says; harmless to print."""
    style: Style
    """How it looks."""


def render_trajectory(trajectory: Trajectory, *, shown_lines: int | None = SHOWN_LINES) -> Iterator[Line]:
    """An episode from its first turn to its reward; of each longer text `shown_lines`, None for all."""
    name = make_printable(f"{trajectory.task_id}, episode {trajectory.episode + 1}")
    policy = make_printable(trajectory.policy)
    yield Line(f"=== {name}: {policy} on {trajectory.target.value}", Style.HEADING)
    history = FileHistory()
    for number, turn in enumerate(trajectory.turns):
        yield from _render_turn(turn, number, history=history, shown_lines=shown_lines)
        for submission in trajectory.submissions:
            if submission.turn == number:
                yield Line(_describe_submission(submission), Style.REWARD)
    outcome = summarise(trajectory)
    detail = f" ({make_printable(trajectory.stop_detail)})" if trajectory.stop_detail else ""
    yield Line(f"=== stopped: {trajectory.stop_reason.value}{detail}", Style.HEADING)
    verdict = f"{describe_verdict(outcome)}{_describe_times(trajectory.final)}"
    effort = f"{outcome.turns} turns, {outcome.submissions} submissions, {outcome.seconds:.0f} s"
    yield Line(f"=== reward {trajectory.reward:g}: {verdict}; {effort}", Style.REWARD)


def render_unfinished(
    name: str, turns: Sequence[Turn], *, shown_lines: int | None = SHOWN_LINES
) -> Iterator[Line]:
    """The turns of an episode that was interrupted, or goes on."""
    yield Line(f"=== {make_printable(name)}: not finished, {len(turns)} turns so far", Style.HEADING)
    history = FileHistory()
    for number, turn in enumerate(turns):
        yield from _render_turn(turn, number, history=history, shown_lines=shown_lines)


def _render_turn(turn: Turn, number: int, *, history: FileHistory, shown_lines: int | None) -> Iterator[Line]:
    tokens = f", {turn.reply.usage.completion_tokens} tokens" if turn.reply.usage.completion_tokens else ""
    spent = f"model {turn.seconds_model:.1f} s{tokens}, tools {turn.seconds_tools:.1f} s"
    yield Line(f"--- turn {number + 1}: {spent}", Style.HEADING)
    if turn.elided:
        yield Line(f"--- old output left out from here on: {turn.elided}", Style.HEADING)
    yield from _indent(turn.reply.message.content, Style.PLAIN, shown_lines=shown_lines)
    answers: dict[str | None, Message] = {answer.tool_call_id: answer for answer in turn.observations}
    for call in turn.reply.message.tool_calls:
        answer = answers.get(call.id)
        text = "" if answer is None else answer.content
        diff = history.apply(call, text)
        yield from _render_call(call, diff, shown_lines=shown_lines)
        if not diff:
            yield from _indent(text, Style.OUTPUT, shown_lines=shown_lines)
    if not turn.reply.message.tool_calls:
        for answer in turn.observations:
            yield from _indent(answer.content, Style.OUTPUT, shown_lines=shown_lines)


def _render_call(call: ToolCall, diff: list[str], *, shown_lines: int | None) -> Iterator[Line]:
    arguments = call.arguments
    if arguments is None:
        yield Line(make_printable(f"> {call.name}, unreadable: {call.raw_arguments[:200]}"), Style.CALL)
        return
    if call.name == "bash" and isinstance(arguments.get("command"), str):
        rest = {name: value for name, value in arguments.items() if name != "command"}
        yield Line(make_printable(f"> bash{_name(rest)}"), Style.CALL)
        yield from _indent(str(arguments["command"]), Style.CALL, shown_lines=shown_lines)
        return
    large = ("file_text", "old_str", "new_str", "insert_text") if diff else ()
    rest = {name: value for name, value in arguments.items() if name not in large}
    yield Line(make_printable(f"> {call.name}{_name(rest)}"), Style.CALL)
    styles = {"+": Style.ADDED, "-": Style.REMOVED}
    for line in _clip(diff, shown_lines):
        yield Line(f"    {make_printable(line)}", styles.get(line[:1], Style.OUTPUT))


def _name(arguments: dict[str, object] | object) -> str:
    assert isinstance(arguments, dict)
    return "".join(f" {name}={value}" for name, value in arguments.items() if value is not None)


def _indent(text: str, style: Style, *, shown_lines: int | None) -> Iterator[Line]:
    for line in _clip(text.rstrip().split("\n") if text.strip() else [], shown_lines):
        yield Line(f"    {make_printable(line)}", style)


def _clip(lines: list[str], shown_lines: int | None) -> list[str]:
    if shown_lines is None or len(lines) <= shown_lines:
        return lines
    half = shown_lines // 2
    return [*lines[:half], f"[{len(lines) - 2 * half} lines; --full shows them]", *lines[-half:]]


def _describe_submission(submission: SubmissionRecord) -> str:
    evaluation = submission.evaluation
    stage = evaluation.failed_stage
    found = "verified" if stage is None else f"{stage.value} failed: {make_printable(evaluation.reason)}"
    times = _describe_times(evaluation)
    return f"--- submitted {submission.sha}: reward {submission.reward:g}, {found}{times}"


def _describe_times(evaluation: Evaluation | None) -> str:
    profile = None if evaluation is None else evaluation.profile
    if profile is None or profile.candidate is None or profile.over_eager is None:
        return ""
    compiled = f", {profile.over_compiled.point:.2f}x over torch.compile" if profile.over_compiled else ""
    return f", {profile.candidate.median_ms:.3f} ms, {profile.over_eager.point:.2f}x over eager{compiled}"
