"""A model without tool calls acts through text, and sees only messages that its template has a form for."""

from cuda_agent.agent.tools.bash import BashArguments
from cuda_agent.agent.tools.edit import EditArguments
from cuda_agent.agent.tools.tool import build_schema
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema, Usage
from cuda_agent.llm.text_tools import TextToolChat, describe_arguments, explain_tools, render_messages

TOOLS = (build_schema("edit", EditArguments), build_schema("bash", BashArguments))
PROMPT = (Message(role=Role.SYSTEM, content="rules"), Message(role=Role.USER, content="task"))


class TalkingChat:
    """Says one thing after another, and keeps what it was asked."""

    name = "talker"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.heard: list[tuple[Message, ...]] = []

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        assert tools == ()
        self.heard.append(messages)
        message = Message(role=Role.ASSISTANT, content=self.texts.pop(0))
        return Reply(message=message, usage=Usage(completion_tokens=7))


def test_a_conversation() -> None:
    talker = TalkingChat(
        'I look.\n<tool_call name="bash"><command>ls</command></tool_call>\n<tool_call name="bash">pwd',
        "Done.",
    )
    chat = TextToolChat(talker)
    first = chat.reply(PROMPT, TOOLS)
    assert chat.name == "talker"
    assert first.usage.completion_tokens == 7
    good, bad = first.message.tool_calls
    assert (first.message.content, good.arguments, bad.arguments) == ("I look.", {"command": "ls"}, None)
    answers = (
        Message(role=Role.TOOL, content="a.txt", tool_call_id=good.id),
        Message(role=Role.TOOL, content="error: what?", tool_call_id=bad.id),
    )
    second = chat.reply((*PROMPT, first.message, *answers), TOOLS)
    assert second.message == Message(role=Role.ASSISTANT, content="Done.")
    system, user, assistant, results = talker.heard[1]
    assert system.content == f"rules\n\n{explain_tools(TOOLS)}"
    assert user == PROMPT[1]
    assert assistant.content == (
        'I look.\n\n<tool_call name="bash">\n<command>\nls\n</command>\n</tool_call>\n\n'
        '<tool_call name="bash">pwd'
    )
    assert assistant.tool_calls == ()
    assert results.role is Role.USER
    assert results.content.startswith('<tool_result name="bash">\na.txt\n</tool_result>\n\n<tool_result')
    assert results.content.count("The call could not be read.") == 1


def test_roles_alternate() -> None:
    call = ToolCall(id="0", name="bash", arguments={})
    messages = (
        *PROMPT,
        Message(role=Role.ASSISTANT, content="", tool_calls=(call,)),
        Message(role=Role.TOOL, content="", tool_call_id="0"),
        Message(role=Role.USER, content="Go on."),
    )
    rendered = render_messages(messages, TOOLS)
    assert [message.role for message in rendered] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert rendered[-1].content.endswith("</tool_result>\n\nGo on.")
    assert [message.role for message in render_messages(PROMPT[1:], ())] == [Role.SYSTEM, Role.USER]


def test_the_prompt_tells_of_every_tool_and_argument() -> None:
    told = explain_tools(TOOLS)
    for tool in TOOLS:
        assert f"## {tool.name}\n\n{tool.description}\n" in told
        for name in tool.parameters["properties"]:
            assert f"\n- `{name}` (" in told
    assert "- `command` (create, view, str_replace, insert): What to do.\n" in told
    assert "- `timeout_s` (number; may be left out): " in told
    assert '<tool_call name="bash">\n<command>\n...\n</command>\n</tool_call>\n' in told


def test_an_argument_is_described_by_its_schema() -> None:
    described = {argument.name: argument for argument in describe_arguments(TOOLS[0])}
    assert described["path"].required
    assert described["path"].kind == "text"
    assert not described["insert_line"].required
    assert (described["insert_line"].kind, described["view_range"].kind) == ("integer", "array")
