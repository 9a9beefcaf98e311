"""A conversation that fills its window loses old tool output, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.agent.context import estimate_reply_tokens, estimate_tokens, fit_messages
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, Usage

PROMPT = (Message(role=Role.SYSTEM, content="s" * 600), Message(role=Role.USER, content="u" * 600))


def build_turns(*lengths: int) -> tuple[Message, ...]:
    messages: list[Message] = []
    for number, length in enumerate(lengths):
        call = ToolCall(id=str(number), name="bash", arguments={"command": f"step {number}"})
        messages.append(Message(role=Role.ASSISTANT, content="think", tool_calls=(call,)))
        messages.append(Message(role=Role.TOOL, content="o" * length, tool_call_id=str(number)))
    return tuple(messages)


def find_outputs(messages: tuple[Message, ...]) -> list[int]:
    return [len(message.content) for message in messages if message.role is Role.TOOL]


def test_what_fits_is_left_alone() -> None:
    messages = PROMPT + build_turns(300, 300)
    assert fit_messages(messages, limit_tokens=estimate_tokens(messages)) == messages


def test_the_oldest_output_goes_first_and_the_note_says_how_much() -> None:
    messages = PROMPT + build_turns(3000, 3000, 3000, 3000)
    fitted = fit_messages(messages, limit_tokens=estimate_tokens(messages) - 1)
    assert fitted is not None
    lengths = find_outputs(fitted)
    assert [length < 100 for length in lengths] == [True, True, False, False]
    assert fitted[3].content == "[3000 characters of old output left out to save room]"
    assert fitted[3].tool_call_id == "0"
    assert fitted[:3] == messages[:3]
    assert estimate_tokens(fitted) <= 0.75 * estimate_tokens(messages)


def test_the_last_answers_stay_even_when_nothing_else_helps() -> None:
    messages = PROMPT + build_turns(30, 30_000)
    assert fit_messages(messages, limit_tokens=5_000) is None
    assert fit_messages(PROMPT, limit_tokens=10) is None


@given(st.lists(st.integers(0, 4000), max_size=12), st.integers(600, 8000))
def test_every_fit_is_within_the_limit_and_keeps_all_but_old_output(lengths: list[int], limit: int) -> None:
    messages = PROMPT + build_turns(*lengths)
    fitted = fit_messages(messages, limit_tokens=limit)
    if fitted is None:
        return
    assert estimate_tokens(fitted) <= limit
    assert len(fitted) == len(messages)
    for old, new in zip(messages, fitted, strict=True):
        assert old == new or (old.role is Role.TOOL and len(new.content) < len(old.content))
    assert fitted[-1] == messages[-1]


def test_a_servers_count_is_believed_before_the_estimate() -> None:
    message = Message(role=Role.ASSISTANT, content="x" * 300)
    assert estimate_reply_tokens(Reply(message=message, usage=Usage(completion_tokens=42))) == 42
    assert estimate_reply_tokens(Reply(message=message)) == 108
