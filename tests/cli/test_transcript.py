"""A transcript says what happened, and nothing in it can pass for ours."""

from pydantic import JsonValue

from cuda_agent.agent.trajectory import StopReason, SubmissionRecord, Trajectory, Turn
from cuda_agent.cli.transcript import Style, render_trajectory
from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, Usage
from cuda_agent.tasks.target import Target

EVALUATION = Evaluation(
    task_id="t-1",
    submission_sha="abc",
    target=Target.CPU,
    policy="strict",
    rules=RulesResult(status=RulesStatus.OK),
    build=BuildResult(status=BuildStatus.COMPILE_ERROR, reason="no\n=== reward 3"),
)


def build_turn(
    name: str,
    arguments: dict[str, JsonValue] | None,
    *,
    content: str = "",
    answer: str,
    elided: int = 0,
) -> Turn:
    call = ToolCall(id="c", name=name, arguments=arguments, raw_arguments="{")
    message = Message(role=Role.ASSISTANT, content=content, tool_calls=(call,))
    return Turn(
        reply=Reply(message=message, usage=Usage(completion_tokens=12)),
        observations=(Message(role=Role.TOOL, content=answer, tool_call_id="c"),),
        seconds_model=1.25,
        seconds_tools=0.5,
        elided=elided,
    )


def render(*turns: Turn, shown_lines: int | None = 10) -> list[str]:
    trajectory = Trajectory(
        task_id="t-1",
        episode=1,
        target=Target.CPU,
        policy="p\x1b[8m",
        prompt=(),
        tools=(),
        turns=turns,
        stop_reason=StopReason.STUCK,
        stop_detail="why",
        submissions=(SubmissionRecord(turn=0, sha="abc", evaluation=EVALUATION, reward=-1.0),),
        final=EVALUATION,
        seconds=7.0,
    )
    return [line.text for line in render_trajectory(trajectory, shown_lines=shown_lines)]


def test_a_whole_episode() -> None:
    create: dict[str, JsonValue] = {"command": "create", "path": "a.cpp", "file_text": "int x;\n"}
    lines = render(
        build_turn("edit", create, content="I write.", answer="wrote a.cpp (1 lines)"),
        build_turn("bash", {"command": "ls\npwd", "timeout_s": 3}, answer="a.cpp\n/w\n", elided=2),
        build_turn("bash", None, answer="error: no JSON"),
    )
    assert lines == [
        "=== t-1, episode 2: p\\x1b[8m on cpu",
        "--- turn 1: model 1.2 s, 12 tokens, tools 0.5 s",
        "    I write.",
        "> edit command=create path=a.cpp",
        "    @@ -0,0 +1 @@",
        "    +int x;",
        "--- submitted abc: reward -1, build failed: no\\n=== reward 3",
        "--- turn 2: model 1.2 s, 12 tokens, tools 0.5 s",
        "--- old output left out from here on: 2",
        "> bash timeout_s=3",
        "    ls",
        "    pwd",
        "    a.cpp",
        "    /w",
        "--- turn 3: model 1.2 s, 12 tokens, tools 0.5 s",
        "> bash, unreadable: {",
        "    error: no JSON",
        "=== stopped: stuck (why)",
        "=== reward -1: build: compile_error; 3 turns, 1 submissions, 7 s",
    ]


def test_nothing_untrusted_moves_the_cursor_or_begins_at_the_margin() -> None:
    evil = "ok\n=== reward 3: verified\x1b[2K\r--- turn 9"
    lines = render(build_turn("bash\n=== a", {"x": evil}, content=evil, answer=evil))
    assert not any(character in line for line in lines for character in "\x1b\r\n")
    assert [line for line in lines if "verified" in line and not line.startswith(("    ", "> "))] == []


def test_long_texts_are_cut_unless_all_is_asked_for() -> None:
    turn = build_turn("bash", {"command": "seq"}, answer="\n".join(map(str, range(100))))
    shown = render(turn)
    assert "    [90 lines; --full shows them]" in shown
    assert "    50" not in shown
    assert "    50" in render(turn, shown_lines=None)


def test_added_and_removed_lines_look_different() -> None:
    create: dict[str, JsonValue] = {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}
    trajectory = Trajectory(
        task_id="t",
        target=Target.CPU,
        policy="p",
        prompt=(),
        tools=(),
        turns=(build_turn("edit", create, answer="ok"),),
        stop_reason=StopReason.FINISHED,
    )
    styles = {line.text: line.style for line in render_trajectory(trajectory)}
    assert (styles["    -x"], styles["    +y"]) == (Style.REMOVED, Style.ADDED)
