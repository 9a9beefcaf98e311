"""Progress is a live line on a terminal, and plain lines elsewhere."""

import io
import re

import pytest
from pydantic import JsonValue
from rich.console import Console

from cuda_agent.agent.job import Attempt
from cuda_agent.agent.outcome import Outcome
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.cli.progress import ConsoleProgress
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, Usage
from cuda_agent.tasks.task import Task

TASK = Task(name="relu", source="x")
FIRST, SECOND = Attempt(TASK, 0), Attempt(TASK, 1)
END = Outcome(
    task_id=TASK.task_id,
    episode=0,
    stop_reason=StopReason.STUCK,
    stop_detail="the same action\x1b[8m",
    turns=0,
    usage=Usage(),
    submissions=0,
    final=None,
    reward=-1.0,
    seconds=12.6,
)


def build_turn(content: str, *calls: tuple[str, dict[str, JsonValue] | None]) -> Turn:
    asked = tuple(ToolCall(id="0", name=name, arguments=arguments) for name, arguments in calls)
    message = Message(role=Role.ASSISTANT, content=content, tool_calls=asked)
    return Turn(reply=Reply(message=message), observations=(), seconds_model=0.0, seconds_tools=0.0)


def show(turn: Turn, *, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=200, color_system=None)
    with ConsoleProgress(console) as progress:
        progress.expect(done=0, total=2)
        progress.begin(FIRST)
        progress.turn(FIRST, turn)
        progress.end(FIRST, END)
    return out.getvalue()


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        (build_turn("\n  First [bold]this[/bold].\nThen that."), "First [bold]this[/bold]."),
        (
            build_turn("", ("bash", {"command": "cuda-agent build\nls"}), ("search", {})),
            "cuda-agent build; search",
        ),
        (build_turn("", ("bash", None)), "bash"),
        (build_turn("x" * 150), "x" * 150),
    ],
)
def test_without_a_terminal_each_event_is_a_line(turn: Turn, line: str) -> None:
    assert show(turn, terminal=False).splitlines() == [
        "[1/2] relu",
        f"  turn 1, 0 s: {line}",
        "[1/2] relu: nothing submitted (stuck), reward -1 (0 turns, 13 s)",
        "  stopped: the same action\\x1b[8m",
    ]


def test_several_at_once_are_told_apart_and_counted_on_from_a_resumed_run() -> None:
    out = io.StringIO()
    with ConsoleProgress(Console(file=out, width=200, color_system=None)) as progress:
        progress.expect(done=3, total=5)
        progress.begin(FIRST)
        progress.begin(SECOND)
        progress.turn(SECOND, build_turn("b"))
        progress.end(FIRST, None)
        progress.turn(SECOND, build_turn("c"))
        progress.end(SECOND, END.model_copy(update={"stop_detail": ""}))
    assert out.getvalue().splitlines() == [
        "[4/5] relu",
        "[5/5] relu #2",
        "  [5/5] relu #2 turn 1, 0 s: b",
        "[4/5] relu: the machine failed",
        "  turn 2, 0 s: c",
        "[5/5] relu #2: nothing submitted (stuck), reward -1 (0 turns, 13 s)",
    ]


def test_on_a_terminal_the_live_line_says_how_far_all_of_them_are() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=200, color_system=None)
    with ConsoleProgress(console) as progress:
        progress.expect(done=3, total=9)
        progress.begin(FIRST)
        progress.begin(SECOND)
        progress.turn(FIRST, build_turn("a"))
        progress.end(FIRST, None)
        progress.end(SECOND, None)
    assert "3 of 9 done, 2 going on" in out.getvalue()
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")


def test_on_a_terminal_one_line_remains_for_each_task() -> None:
    shown = show(build_turn("First [bold]this[/bold]."), terminal=True)
    assert shown.endswith(
        "[1/2] relu: nothing submitted (stuck), reward -1 (0 turns, 13 s)\n"
        "  stopped: the same action\\x1b[8m\n"
    )
    assert "\x1b[?25h" in shown  # the cursor is shown again


def test_an_interruption_takes_the_live_line_away() -> None:
    out = io.StringIO()
    progress = ConsoleProgress(Console(file=out, force_terminal=True, width=200, color_system=None))
    progress.expect(done=0, total=1)
    progress.begin(FIRST)
    progress.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")


@pytest.mark.parametrize("width", [40, 80, 160])
def test_on_a_terminal_a_turn_fills_its_line_and_no_more(width: int) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, color_system=None)
    with ConsoleProgress(console) as progress:
        progress.expect(done=0, total=1)
        progress.begin(FIRST)
        progress.turn(FIRST, build_turn("x" * 500))
    shown = [line for line in re.split(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\n", out.getvalue()) if "turn 1" in line]
    assert shown
    assert {len(line.rstrip()) for line in shown} == {width}
    assert all(line.endswith("...") for line in shown)


def test_elsewhere_a_turn_is_told_in_one_line() -> None:
    assert f"s: {'x' * 600}\n" in show(build_turn("x" * 600), terminal=False)
    assert "x..." in show(build_turn("x" * 2000), terminal=False)


def test_a_name_that_steers_a_terminal_is_shown_harmless() -> None:
    out = io.StringIO()
    attempt = Attempt(Task(name="a\x1b[2J", source="x"), 0)
    with ConsoleProgress(Console(file=out, width=200)) as progress:
        progress.expect(done=0, total=1)
        progress.begin(attempt)
    assert "[1/1] a\\x1b[2J\n" in out.getvalue()
