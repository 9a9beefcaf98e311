"""Calls written as text are read as they were meant, and what cannot be read is an invalid call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from cuda_agent.agent.tools.bash import BashArguments
from cuda_agent.agent.tools.edit import EditArguments
from cuda_agent.agent.tools.tool import build_schema
from cuda_agent.llm.chat import ToolCall
from cuda_agent.llm.text_form import Parsed, parse_text, render_call

TOOLS = (build_schema("edit", EditArguments), build_schema("bash", BashArguments))

KERNEL = """\
#include <vector>
template <typename T> T f(T x) { return x < 3 && x > 1 ? x : "a\\n"[0]; }
"""


def parse(text: str) -> Parsed:
    return parse_text(text, TOOLS, turn=4)


def read(text: str) -> list[tuple[str, dict[str, JsonValue] | None]]:
    return [(call.name, call.arguments) for call in parse(text).calls]


def test_calls_and_prose() -> None:
    parsed = parse(
        "First I write it.\n"
        f'<tool_call name="edit">\n<command>create</command>\n<path>kernels/a.cpp</path>\n'
        f"<file_text>\n{KERNEL}\n</file_text>\n</tool_call>\nThen I build.\n"
        '<tool_call name="bash">\n<command>\ncuda-agent build\n</command>\n<timeout_s>\n30\n</timeout_s>\n'
        "</tool_call>\n"
    )
    assert parsed.prose == "First I write it.\nThen I build."
    assert [(call.id, call.name) for call in parsed.calls] == [("call-4-0", "edit"), ("call-4-1", "bash")]
    assert parsed.calls[0].arguments == {"command": "create", "path": "kernels/a.cpp", "file_text": KERNEL}
    assert parsed.calls[1].arguments == {"command": "cuda-agent build", "timeout_s": 30}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call name='bash'><command>ls</command></tool_call>", {"command": "ls"}),
        ("<tool_call name=bash >\n<command>ls</command >\n</tool_call >", {"command": "ls"}),
        ('<tool_call name="bash"><command>ls</command>', {"command": "ls"}),
        ('<tool_call>{"name": "bash", "arguments": {"command": "a\nb"}}</tool_call>', {"command": "a\nb"}),
        ('<tool_call>\n{"name": "bash", "arguments": "{\\"command\\": \\"ls\\"}"}', {"command": "ls"}),
        ('<tool_call name="bash">{"command": "ls"}</tool_call>', {"command": "ls"}),
        ('<tool_call name="bash"></tool_call>', {}),
        ('<tool_call name="bash"><command>5</command></tool_call>', {"command": "5"}),
        ('<tool_call name="bash"><timeout_s>soon</timeout_s></tool_call>', {"timeout_s": "soon"}),
        ('<tool_call name="bash"><timeout_s></timeout_s></tool_call>', {"timeout_s": None}),
        ('<tool_call name="bash"><timeout_s>1, "x": 2</timeout_s></tool_call>', {"timeout_s": '1, "x": 2'}),
        ('<tool_call name="bash"><other>1</other></tool_call>', {"other": "1"}),
    ],
)
def test_what_models_write_is_understood(text: str, expected: dict[str, JsonValue]) -> None:
    assert read(text) == [("bash", expected)]


def test_values_are_what_the_tool_takes() -> None:
    text = (
        '<tool_call name="edit"><command> view </command><path>a</path>'
        "<view_range>[3, -1]</view_range></tool_call>"
    )
    assert read(text) == [("edit", {"command": "view", "path": "a", "view_range": [3, -1]})]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<tool_call", ""),
        ("<tool_call>", ""),
        ("<tool_call>ls</tool_call>", ""),
        ('<tool_call name="bash">ls</tool_call>', "bash"),
        ('<tool_call name="bash"><command>ls', "bash"),
        ('<tool_call name="bash"><command>ls</cmd></tool_call>', "bash"),
        ('<tool_call name="bash"><command>ls</command> and then</tool_call>', "bash"),
        ('<tool_call name="bash">{"command": "ls"</tool_call>', "bash"),
        ('<tool_call>{"name": 3, "arguments": {}}</tool_call>', ""),
        ('<tool_call>{"name": "bash", "arguments": [1]}</tool_call>', "bash"),
        ("<tool_call><command>ls</command></tool_call>", ""),
    ],
)
def test_what_cannot_be_read_is_an_invalid_call_with_its_text(text: str, name: str) -> None:
    (call,) = parse(f"So:\n{text}\n").calls
    assert (call.name, call.arguments, call.raw_arguments) == (name, None, text)


def test_one_broken_call_does_not_swallow_the_next() -> None:
    text = '<tool_call name="bash"><command>ls\n<tool_call name="bash"><command>pwd</command></tool_call>'
    assert read(text) == [("bash", None), ("bash", {"command": "pwd"})]


def test_thinking_and_made_up_results_are_no_calls() -> None:
    call = '<tool_call name="bash"><command>{}</command></tool_call>'
    text = (
        f"<think>perhaps {call.format('rm')}</think>\n{call.format('ls')}\n"
        f'<tool_result name="bash">\na.txt\n</tool_result>\n{call.format("cat a.txt")}'
    )
    assert read(text) == [("bash", {"command": "ls"})]


def test_a_reply_without_a_call_is_prose() -> None:
    assert parse(" All is done.\n") == Parsed("All is done.", ())


@given(
    st.fixed_dictionaries(
        {"command": st.just("create"), "path": st.text(), "file_text": st.text()},
        optional={"insert_line": st.integers(-5, 5), "view_range": st.lists(st.integers(), max_size=2)},
    ).filter(lambda arguments: "</" not in json.dumps(arguments) and "<tool_" not in json.dumps(arguments))
)
def test_a_rendered_call_is_read_back(arguments: dict[str, JsonValue]) -> None:
    call = ToolCall(id="call-4-0", name="edit", arguments=arguments)
    assert parse(render_call(call)).calls == (call,)


@given(st.text('<>/tool_call name="bash"command{}:\n\\\''))
def test_no_text_crashes(text: str) -> None:
    for written in (text, f"<tool_call{text}", f'<tool_call name="bash">{text}</tool_call>'):
        for call in parse(written).calls:
            assert ToolCall.model_validate_json(call.model_dump_json()) == call
