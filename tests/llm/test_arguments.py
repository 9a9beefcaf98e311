"""Arguments are a JSON object that a record can hold and give back, or nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from cuda_agent.llm.arguments import DEEPEST, parse_object
from cuda_agent.llm.chat import ToolCall

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(width=32) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_an_object_survives_parsing_and_the_record(arguments: dict[str, JsonValue]) -> None:
    parsed = parse_object(json.dumps(arguments))
    if parsed is None:
        assert any(word in json.dumps(arguments) for word in ("NaN", "Infinity", "\\ud"))
        return
    assert parsed == arguments
    call = ToolCall(id="0", name="x", arguments=parsed)
    assert ToolCall.model_validate_json(call.model_dump_json()) == call


def test_a_line_break_in_a_string_is_let_pass() -> None:
    assert parse_object('{"command": "a\nb\tc"}') == {"command": "a\nb\tc"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"{}"',
        "null",
        '{"a": 1,}',
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": "\\ud800"}',
        '{"\\udfff": 1}',
        '{"a": ' + "9" * 10_000 + "}",
        '{"a": ' + "[" * DEEPEST + "]" * DEEPEST + "}",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a": 1} {"b": 2}',
    ],
)
def test_anything_else_is_nothing(text: str) -> None:
    assert parse_object(text) is None


def test_the_deepest_is_still_an_object() -> None:
    inner = "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    assert parse_object(f'{{"a": {inner}}}') == {"a": json.loads(inner)}
