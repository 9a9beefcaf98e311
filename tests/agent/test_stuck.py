"""Repeating oneself and looking on are noticed; working is not."""

import pytest

from cuda_agent.agent.stuck import find_stuck, may_change
from cuda_agent.llm.chat import Message, Role, ToolCall

FREE = 1000


def act(name: str = "bash", *, answer: str = "ok", **arguments: str) -> tuple[Message, Message]:
    call = ToolCall(id="c", name=name, arguments={**arguments})
    return (
        Message(role=Role.ASSISTANT, content="", tool_calls=(call,)),
        Message(role=Role.TOOL, content=answer, tool_call_id="c"),
    )


def join(*turns: tuple[Message, ...]) -> list[Message]:
    prompt = [Message(role=Role.SYSTEM, content="s"), Message(role=Role.USER, content="u")]
    return [*prompt, *(message for turn in turns for message in turn)]


def test_the_same_action_in_a_row_whatever_it_brings() -> None:
    again = [act(command="make", answer=str(number)) for number in range(3)]
    assert find_stuck(join(*again), repeated_turns=3, idle_turns=FREE) == "the same action 3 times in a row"
    assert find_stuck(join(*again[:2]), repeated_turns=3, idle_turns=FREE) == ""
    broken = [*again[:2], act(command="ls"), *again[:2]]
    assert find_stuck(join(*broken), repeated_turns=3, idle_turns=FREE) == ""


def test_a_cycle_of_actions() -> None:
    cycle = [act(command="make a"), act(command="make b"), act("edit", command="view", path="x")]
    found = find_stuck(join(*cycle * 4), repeated_turns=4, idle_turns=FREE)
    assert found == "the same 3 actions 4 times in a row"
    assert find_stuck(join(*(cycle * 4)[:-1]), repeated_turns=4, idle_turns=FREE) == ""


def test_waiting_for_a_background_command_is_no_repetition_but_changes_nothing() -> None:
    waits = [act(job="1") for _ in range(6)]
    assert find_stuck(join(*waits), repeated_turns=3, idle_turns=FREE) == ""
    assert find_stuck(join(*waits), repeated_turns=3, idle_turns=6) == "no file changed in 6 turns in a row"
    again = act(command="make")
    turns = [again, *waits, again, again]
    assert find_stuck(join(*turns), repeated_turns=3, idle_turns=FREE) == "the same action 3 times in a row"


def test_it_is_found_in_the_middle_of_a_finished_conversation() -> None:
    turns = [act(command="ls")] * 3 + [act(command="make")]
    assert find_stuck(join(*turns), repeated_turns=3, idle_turns=FREE) == "the same action 3 times in a row"


def test_other_contents_are_another_action() -> None:
    turns = [act("edit", command="create", path="a", file_text=str(number)) for number in range(9)]
    assert find_stuck(join(*turns), repeated_turns=2, idle_turns=2) == ""


def test_only_looking_for_many_turns() -> None:
    looks = [act(command=f"cat {number}") for number in range(5)]
    assert find_stuck(join(*looks), repeated_turns=3, idle_turns=5) == "no file changed in 5 turns in a row"
    edit = act("edit", command="create", path="a", file_text="x")
    assert find_stuck(join(*looks[:4], edit, *looks[:4]), repeated_turns=3, idle_turns=5) == ""
    failed = act("edit", command="str_replace", path="a", answer="error: old_str is not in a")
    assert find_stuck(join(*looks[:4], failed), repeated_turns=3, idle_turns=5) != ""


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("cuda-agent profile", False),
        ("cd kernels && ls -l | head -3; cat a.cpp 2>/dev/null", False),
        ("cuda-agent verify 2>&1 | tail -20", False),
        ("X=1 nproc\nlscpu", False),
        ("/usr/bin/objdump -d x.so", False),
        ("sed -n 1,20p model.py", False),
        ("sed -i s/a/b/ kernels/a.cpp", True),
        ("cat > kernels/a.cpp <<'END'\nint x;\nEND", True),
        ("echo x >> notes", True),
        ("python tune.py", True),
        ("find . -name '*.o' -delete", True),
        ("ls $(rm a)", True),
        ("cat a | tee b", True),
    ],
)
def test_which_commands_may_change_files(command: str, changes: bool) -> None:
    assert may_change(ToolCall(id="c", name="bash", arguments={"command": command})) is changes


@pytest.mark.parametrize(
    ("name", "arguments", "changes"),
    [
        ("edit", {"command": "view", "path": "a"}, False),
        ("edit", {"command": "insert", "path": "a"}, True),
        ("search", {"pattern": "a"}, False),
        ("bash", {"job": 1}, False),
        ("bash", None, False),
    ],
)
def test_which_calls_may_change_files(
    name: str, arguments: dict[str, str | int] | None, changes: bool
) -> None:
    call = ToolCall(id="c", name=name, arguments=None if arguments is None else {**arguments})
    assert may_change(call) is changes


def test_a_conversation_without_a_reply_is_not_stuck() -> None:
    assert find_stuck([], repeated_turns=3, idle_turns=5) == ""
