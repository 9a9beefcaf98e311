"""An endpoint is asked over a real connection, its faults are told apart, and its key is told to nobody."""

import datetime
import email.utils
import io
import json
import logging
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cuda_agent.errors import ConfigError, InfrastructureError
from cuda_agent.llm import http
from cuda_agent.llm.chat import FinishReason, Message, Role, ToolCall, ToolSchema, Usage
from cuda_agent.llm.endpoint import CapField, EndpointConfig, Prices, Sampling
from cuda_agent.llm.http import EndpointError, HttpChat, check_address, parse_retry_after_s
from cuda_agent.llm.patient import BusyError, PatientChat
from tests.chat_server import Answer, ChatServer, say

KEY = "sk-marked-0123456789abcdef"
KEY_ENV = "MARKED_ENDPOINT_KEY"
PROMPT = (Message(role=Role.SYSTEM, content="rules"), Message(role=Role.USER, content="task"))
ECHO = ToolSchema(name="echo", description="Says it.", parameters={"type": "object", "properties": {}})


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key to give, and one that must not be given."""
    monkeypatch.setenv(KEY_ENV, KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-strangers")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-not-for-strangers")


@pytest.fixture
def everything_logged() -> Iterator[io.StringIO]:
    """What every logger of the process says, the openai package's and those below it too."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(before)
    root.removeHandler(handler)


def build(server: ChatServer, **fields: object) -> HttpChat:
    return HttpChat("small", EndpointConfig.model_validate({"base_url": server.address, **fields}))


def test_a_conversation_with_tool_calls() -> None:
    with ChatServer(say("I look.", calls=[("echo", {"text": "a"})]), say("Done.")) as server:
        chat = build(server, prices=Prices(prompt=2.0, completion=8.0))
        first = chat.reply(PROMPT, (ECHO,))
        answer = Message(role=Role.TOOL, content="a", tool_call_id="id-0")
        second = chat.reply((*PROMPT, first.message, answer), (ECHO,))
    assert first.message.content == "I look."
    assert first.message.tool_calls == (ToolCall(id="id-0", name="echo", arguments={"text": "a"}),)
    assert first.usage == Usage(prompt_tokens=100, completion_tokens=10, cost=0.00028)
    assert (second.message.content, second.message.tool_calls) == ("Done.", ())
    assert server.heard[0].path == "/v1/chat/completions"
    function = {"name": "echo", "description": "Says it.", "parameters": ECHO.parameters}
    assert server.heard[0].body == {
        "model": "small",
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "task"}],
        "tools": [{"type": "function", "function": function}],
        "max_tokens": 16_384,
        "stream": False,
    }
    called = {"name": "echo", "arguments": '{"text": "a"}'}
    assert server.heard[1].body["messages"][2:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "id-0", "type": "function", "function": called}],
        },
        {"role": "tool", "content": "a", "tool_call_id": "id-0"},
    ]


def test_sampling_is_what_was_asked_for() -> None:
    sampling = Sampling(
        temperature=0.0, top_p=0.9, seed=7, max_tokens=50, cap_field=CapField.MAX_COMPLETION_TOKENS
    )
    with ChatServer(say("cut of", finish="length")) as server:
        reply = build(server, sampling=sampling).reply(PROMPT, ())
    assert reply.finish_reason is FinishReason.LENGTH
    asked = {name: value for name, value in server.heard[0].body.items() if name not in ("model", "messages")}
    assert asked == {
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 7,
        "max_completion_tokens": 50,
        "stream": False,
    }


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_passes_can_be_tried_again(status: int) -> None:
    with ChatServer(Answer(status, "so\x1b[2J much", {"retry-after": "7"})) as server:
        with pytest.raises(BusyError, match=rf"status {status}: so\\x1b\[2J much") as raised:
            build(server).reply(PROMPT, ())
        assert len(server.heard) == 1, "trying again is PatientChat's"
    assert raised.value.retry_after_s == 7.0


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, "too long"),
        (401, "no"),
        (404, "no such model"),
        (429, json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}})),
    ],
)
def test_a_refusal_is_final(status: int, body: str) -> None:
    with ChatServer(Answer(status, body)) as server, pytest.raises(EndpointError, match=f"status {status}"):
        PatientChat(build(server), retries=3).reply(PROMPT, ())
    assert len(server.heard) == 1


def test_faults_on_the_way_are_outlived(caplog: pytest.LogCaptureFixture) -> None:
    faults = (
        Answer(429, "slow down", {"retry-after": "0.3"}),
        Answer(drops=True),
        Answer(500, "oh"),
        Answer(200, "<html>not me</html>"),
        Answer(silent_s=2.0),
    )
    logging.getLogger("cuda_agent").propagate = True
    with ChatServer(*faults, say("at last")) as server:
        chat = PatientChat(build(server, request_s=0.5), retries=5, first_pause_s=0.01)
        start_s = time.monotonic()
        assert chat.reply(PROMPT, ()).message.content == "at last"
        assert time.monotonic() - start_s >= 0.3 + 0.5
    assert len(server.heard) == 6
    for words in (
        "status 429: slow down",
        "no connection with http://127.0.0.1",
        "status 500: oh",
        "did not answer the chat: <html>not me</html>",
        "was silent for 0.5 s",
    ):
        assert sum(words in told for told in {record.getMessage() for record in caplog.records}) == 1, words


def test_a_reply_of_ten_megabytes_is_read_whole() -> None:
    text = "ключ \U0001f511\n" * 500_000
    with ChatServer(say(text)) as server:
        assert build(server).reply(PROMPT, ()).message.content == text


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_BYTES", 5000)
    with ChatServer(say("a" * 5000)) as server, pytest.raises(EndpointError, match="more than 5,000 bytes"):
        build(server).reply(PROMPT, ())
    with (
        ChatServer(replace(say("a" * 4000), pause_s=0.1)) as server,
        pytest.raises(InfrastructureError, match=r"still answering after 0\.5 s"),
    ):
        build(server, request_s=0.5).reply(PROMPT, ())


def test_an_answer_that_stops_in_the_middle_can_be_asked_for_again() -> None:
    cut = replace(say("a"), headers={"content-length": "9999"})
    with (
        ChatServer(cut) as server,
        pytest.raises(InfrastructureError, match=r"silent for 0\.5 s"),
    ):
        build(server, request_s=0.5).reply(PROMPT, ())


def test_nobody_at_the_address_is_an_infrastructure_error() -> None:
    with ChatServer() as server:
        chat = build(server)
    with pytest.raises(InfrastructureError, match=r"no connection with http://127\.0\.0\.1"):
        chat.reply(PROMPT, ())


def test_the_key_is_read_at_each_request_and_kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(say("a"), say("b")) as server:
        chat = build(server, api_key_env=KEY_ENV)
        chat.reply(PROMPT, ())
        monkeypatch.setenv(KEY_ENV, "sk-the-next-one")
        chat.reply(PROMPT, ())
        assert KEY not in repr(vars(chat)) + repr(vars(chat._client))
        monkeypatch.delenv(KEY_ENV)
        with pytest.raises(ConfigError, match="is not set"):
            chat.reply(PROMPT, ())
    sent = [heard.headers["authorization"] for heard in server.heard]
    assert sent == [f"Bearer {KEY}", "Bearer sk-the-next-one"]


def test_a_stranger_is_sent_no_key_unasked() -> None:
    with ChatServer(say("a")) as server:
        build(server).reply(PROMPT, ())
    assert "strangers" not in repr(server.heard)
    assert server.heard[0].headers["authorization"] == "Bearer none"


def test_a_key_does_not_follow_to_another_address() -> None:
    with ChatServer(say("caught")) as other:
        moved = Answer(307, "", {"location": f"{other.address}/chat/completions"})
        with ChatServer(moved) as server:
            build(server, api_key_env=KEY_ENV).reply(PROMPT, ())
    assert KEY in repr(server.heard)
    assert KEY not in repr(other.heard)


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_an_endpoint_that_repeats_the_key_gives_nothing_away(
    status: int, capfd: pytest.CaptureFixture[str], everything_logged: io.StringIO
) -> None:
    repeated = say(f"you sent {KEY}", calls=[("echo", {"text": KEY})]).body
    body = repeated if status == 200 else json.dumps({"error": {"message": f"wrong key {KEY}"}})
    told = ""
    with ChatServer(Answer(status, body)) as server:
        try:
            told = build(server, api_key_env=KEY_ENV).reply(PROMPT, ()).model_dump_json()
        except (EndpointError, InfrastructureError):
            told = traceback.format_exc()
    assert KEY in repr(server.heard)
    assert "[key]" in told
    assert "POST" in everything_logged.getvalue()
    assert KEY not in told + "".join(capfd.readouterr()) + everything_logged.getvalue()


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8000/v1", "ftp://a/v1", "http:///v1", "http://me:pass@a/v1", "http://a/v1?api-key=pass"],
)
def test_an_unusable_address_is_refused_and_no_password_shown(address: str) -> None:
    with pytest.raises(ConfigError, match="--base-url") as raised:
        check_address(address)
    assert "pass@" not in str(raised.value)
    assert "=pass" not in str(raised.value)


def test_retry_after_is_a_number_or_a_date() -> None:
    assert parse_retry_after_s({"retry-after": "2.5"}) == 2.5
    assert parse_retry_after_s({"retry-after": "-1"}) == 0.0
    assert parse_retry_after_s({"retry-after": "soon"}) is None
    assert parse_retry_after_s({}) is None
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90)
    told = parse_retry_after_s({"retry-after": email.utils.format_datetime(until, usegmt=True)})
    assert told is not None
    assert 85.0 < told <= 90.0


def test_the_package_is_loaded_only_for_an_endpoint() -> None:
    program = "import sys, cuda_agent.llm.http, cuda_agent.cli.run; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
