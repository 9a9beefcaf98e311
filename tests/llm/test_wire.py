"""What an endpoint answers becomes a reply, however loosely it keeps to the protocol, and never a crash."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role, ToolCall
from cuda_agent.llm.endpoint import Prices
from cuda_agent.llm.wire import build_messages, parse_completion


def parse(message: object, **fields: object) -> Reply:
    body = json.dumps({"choices": [{"message": message, **fields}]})
    return parse_completion(body, taken_ids=("id-0", "call-2"), prices=Prices())


def parse_call(call: object) -> ToolCall:
    (parsed,) = parse({"role": "assistant", "tool_calls": [call]}).message.tool_calls
    return parsed


def write_call(arguments: object, **fields: object) -> dict[str, Any]:
    return {"id": "a", "type": "function", "function": {"name": "bash", "arguments": arguments}, **fields}


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"command": "ls"}', {"command": "ls"}),
        ({"command": "ls"}, {"command": "ls"}),
        ('{"command": "a\nb"}', {"command": "a\nb"}),
        ("", {}),
        ("{}", {}),
    ],
)
def test_arguments_are_read_leniently(written: object, arguments: object) -> None:
    assert parse_call(write_call(written)) == ToolCall(id="a", name="bash", arguments=arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("written", ['{"command": "ls"', "ls", "[1]", '{"a": "\\ud800"}', '{"a": NaN}'])
def test_malformed_arguments_are_an_invalid_call_that_says_what_was_written(written: str) -> None:
    assert parse_call(write_call(written)) == ToolCall(
        id="a", name="bash", arguments=None, raw_arguments=written
    )


@pytest.mark.parametrize("call", [None, 3, "bash", [], {}, {"function": None}, {"function": {"name": 3}}])
def test_what_is_no_call_is_an_invalid_call(call: object) -> None:
    parsed = parse_call(call)
    assert (parsed.name, parsed.arguments, parsed.raw_arguments) == ("", None, json.dumps(call))


def test_every_call_has_an_id_of_its_own() -> None:
    calls = [write_call("{}", id=id) for id in ("id-0", "", None, "new", "new")]
    parsed = parse({"tool_calls": calls}).message.tool_calls
    ids = [call.id for call in parsed]
    assert ids[3] == "new"
    assert len({*ids, "id-0", "call-2"}) == 7


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"content": "a"}, "a"),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": None, "refusal": "I cannot."}, "I cannot."),
        ({"content": "a", "reasoning_content": "hm", "tool_calls": None, "audio": None}, "a"),
    ],
)
def test_content_is_text(message: object, content: str) -> None:
    assert parse(message).message == Message(role=Role.ASSISTANT, content=content)


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("length", FinishReason.LENGTH), ("stop", FinishReason.STOP), (None, FinishReason.STOP)],
)
def test_a_reply_cut_off_says_so(finish: str | None, expected: FinishReason) -> None:
    assert parse({"content": "a"}, finish_reason=finish).finish_reason is expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 1_000_000, "completion_tokens": 500_000}, (1_000_000, 500_000, 7.0)),
        ({"prompt_tokens": 10}, (10, 0, 0.00003)),
        (None, (0, 0, 0.0)),
    ],
)
def test_tokens_have_their_price(usage: object, expected: tuple[int, int, float]) -> None:
    body = json.dumps({"choices": [{"message": {"content": "a"}}], "usage": usage})
    reply = parse_completion(body, taken_ids=(), prices=Prices(prompt=3.0, completion=8.0))
    read, written, cost = expected
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (read, written)
    assert reply.usage.cost == pytest.approx(cost)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{"message": null}]}',
        '{"error": {"message": "overloaded"}}',
        '{"choices": [{"message": {"content": "\\ud800"}}]}',
        '{"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -5}}',
    ],
)
def test_what_is_no_completion_can_be_asked_for_again(body: str) -> None:
    with pytest.raises(InfrastructureError, match="did not answer the chat"):
        parse_completion(body, taken_ids=(), prices=Prices())


def test_what_an_endpoint_says_forges_no_line() -> None:
    with pytest.raises(InfrastructureError) as raised:
        parse_completion("\x1b[2J\nreward: 3 " + "x" * 1000, taken_ids=(), prices=Prices())
    assert "\\x1b[2J reward: 3" in str(raised.value)
    assert len(str(raised.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "tool_calls", "function", "name", "arguments"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON, JSON)
def test_no_answer_crashes(message: object, call: object) -> None:
    for body in ({"choices": [{"message": message}]}, {"choices": [{"message": {"tool_calls": [call]}}]}):
        try:
            reply = parse_completion(json.dumps(body), taken_ids=(), prices=Prices())
        except InfrastructureError:
            continue
        assert Reply.model_validate_json(reply.model_dump_json()) == reply


def test_an_invalid_call_is_sent_back_in_a_form_that_every_endpoint_reads() -> None:
    calls = (
        ToolCall(id="a", name="run it!", arguments=None, raw_arguments='{"x'),
        ToolCall(id="b", name="", arguments={}),
    )
    (built,) = build_messages([Message(role=Role.ASSISTANT, content="", tool_calls=calls)])
    functions = [call["function"] for call in built["tool_calls"]]
    assert functions == [
        {"name": "run_it_", "arguments": json.dumps({"unreadable": '{"x'})},
        {"name": "unknown", "arguments": "{}"},
    ]
