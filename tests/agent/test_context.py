"""A conversation that fills its window loses old tool output, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.agent.context import Window, estimate_reply_tokens, estimate_tokens, fit_messages
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, Usage

PROMPT = (Message(role=Role.SYSTEM, content="s" * 600), Message(role=Role.USER, content="u" * 600))


def build_turns(*lengths: int) -> tuple[Message, ...]:
    messages: list[Message] = []
    for number, length in enumerate(lengths):
        call = ToolCall(id=str(number), name="bash", arguments={"command": f"step {number}"})
        messages.append(Message(role=Role.ASSISTANT, content="think", tool_calls=(call,)))
        messages.append(Message(role=Role.TOOL, content="o" * length, tool_call_id=str(number)))
    return tuple(messages)


class Shelf:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> str:
        self.texts.append(text)
        return f"shelf/{len(self.texts)}"


def drop(text: str) -> str:
    return ""


def find_outputs(messages: tuple[Message, ...]) -> list[int]:
    return [len(message.content) for message in messages if message.role is Role.TOOL]


def test_what_fits_is_left_alone() -> None:
    messages = PROMPT + build_turns(300, 300)
    assert fit_messages(messages, limit_tokens=estimate_tokens(messages), keep=drop) == messages


def test_the_oldest_output_goes_first_and_the_note_says_how_much() -> None:
    messages = PROMPT + build_turns(3000, 3000, 3000, 3000)
    fitted = fit_messages(messages, limit_tokens=estimate_tokens(messages) - 1, keep=Shelf())
    assert fitted is not None
    lengths = find_outputs(fitted)
    assert [length < 120 for length in lengths] == [True, True, False, False]
    assert (
        fitted[3].content == "[3000 characters of old output left out to save room; read it again in shelf/1]"
    )
    assert fitted[3].tool_call_id == "0"
    assert fitted[:3] == messages[:3]
    assert estimate_tokens(fitted) <= 0.75 * estimate_tokens(messages)


def test_the_last_answers_stay_even_when_nothing_else_helps() -> None:
    messages = PROMPT + build_turns(30, 30_000)
    assert fit_messages(messages, limit_tokens=5_000, keep=drop) is None
    assert fit_messages(PROMPT, limit_tokens=10, keep=drop) is None


@given(st.lists(st.integers(0, 4000), max_size=12), st.integers(600, 8000))
def test_every_fit_is_within_the_limit_and_keeps_all_but_old_output(lengths: list[int], limit: int) -> None:
    messages = PROMPT + build_turns(*lengths)
    fitted = fit_messages(messages, limit_tokens=limit, keep=drop)
    if fitted is None:
        return
    assert estimate_tokens(fitted) <= limit
    assert len(fitted) == len(messages)
    for old, new in zip(messages, fitted, strict=True):
        assert old == new or (old.role is Role.TOOL and len(new.content) < len(old.content))
    assert fitted[-1] == messages[-1]


def test_what_cannot_be_kept_can_be_called_for_again() -> None:
    messages = PROMPT + build_turns(3000, 3000)
    fitted = fit_messages(messages, limit_tokens=estimate_tokens(messages) - 1, keep=drop)
    assert fitted is not None
    assert fitted[3].content == "[3000 characters of old output left out to save room; call again to see it]"


def test_the_window_leaves_room_for_a_reply_and_learns_how_many_tokens_texts_are() -> None:
    messages = PROMPT + build_turns(3000, 3000, 300)
    limit = estimate_tokens(messages) + 100
    assert Window(limit, reply_tokens=100, tools=()).fit(messages, drop) == messages
    assert Window(limit, reply_tokens=101, tools=()).fit(messages, drop) != messages
    # However long a reply may be, most of the window is for the conversation.
    assert Window(2 * limit, reply_tokens=100 * limit, tools=()).fit(messages, drop) == messages
    window = Window(limit, reply_tokens=100, tools=())
    message = Message(role=Role.ASSISTANT, content="x")
    window.learn(messages, Reply(message=message, usage=Usage(prompt_tokens=2 * limit)))
    fitted = window.fit(messages, drop)
    assert fitted is not None
    assert estimate_tokens(fitted) < limit / 2
    window.learn(fitted, Reply(message=message, usage=Usage(prompt_tokens=10)))
    assert window.fit(messages, drop) == messages


def test_a_servers_count_is_believed_before_the_estimate() -> None:
    message = Message(role=Role.ASSISTANT, content="x" * 300)
    assert estimate_reply_tokens(Reply(message=message, usage=Usage(completion_tokens=42))) == 42
    assert estimate_reply_tokens(Reply(message=message)) == 108
