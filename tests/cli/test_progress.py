"""Progress is a live line on a terminal, and plain lines elsewhere."""

import io

import pytest
from pydantic import JsonValue
from rich.console import Console

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.cli.progress import ConsoleProgress
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

TASK = Task(name="relu", source="x")
END = Trajectory(
    task_id=TASK.task_id,
    target=Target.CPU,
    policy="p",
    prompt=(),
    tools=(),
    turns=(),
    stop_reason=StopReason.STUCK,
    stop_detail="the same action",
    seconds=12.6,
)


def build_turn(content: str, *calls: tuple[str, dict[str, JsonValue] | None]) -> Turn:
    asked = tuple(ToolCall(id="0", name=name, arguments=arguments) for name, arguments in calls)
    message = Message(role=Role.ASSISTANT, content=content, tool_calls=asked)
    return Turn(reply=Reply(message=message), observations=(), seconds_model=0.0, seconds_tools=0.0)


def show(turn: Turn, *, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=200, color_system=None)
    with ConsoleProgress(console, tasks=2) as progress:
        progress.begin(TASK)
        progress.turn(turn)
        progress.end(END)
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
        (build_turn("x" * 101), "x" * 100 + "..."),
    ],
)
def test_without_a_terminal_each_event_is_a_line(turn: Turn, line: str) -> None:
    assert show(turn, terminal=False).splitlines() == [
        "[1/2] relu",
        f"  turn 1, 0 s: {line}",
        "[1/2] relu: nothing submitted (stuck), reward -1 (0 turns, 13 s)",
        "  stopped: the same action",
    ]


def test_on_a_terminal_one_line_remains_for_each_task() -> None:
    shown = show(build_turn("First [bold]this[/bold]."), terminal=True)
    assert shown.endswith(
        "[1/2] relu: nothing submitted (stuck), reward -1 (0 turns, 13 s)\n  stopped: the same action\n"
    )
    assert "\x1b[?25h" in shown  # the cursor is shown again


def test_an_interruption_takes_the_live_line_away() -> None:
    out = io.StringIO()
    progress = ConsoleProgress(Console(file=out, force_terminal=True, width=200, color_system=None), tasks=1)
    progress.begin(TASK)
    progress.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")
