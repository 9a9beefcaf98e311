"""A scripted policy says the same thing every time."""

import json
from pathlib import Path

import pytest

from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall
from cuda_agent.llm.scripted import load_scripted_chat

SCRIPT = """
[[reply]]
text = "First."

[[reply.call]]
tool = "edit"
arguments.command = "create"
arguments.path = "kernels/a.cpp"
arguments.file_text = '''
int main() { return "\\n"[0]; }
'''

[[reply.call]]
tool = "bash"
arguments = { command = "ls", timeout_s = 5 }

[[reply]]
text = "Done."
"""


def ask(text: str, *said: Reply) -> tuple[Message, ...]:
    return (
        Message(role=Role.SYSTEM, content="rules"),
        Message(role=Role.USER, content=text),
        *(reply.message for reply in said),
    )


def record(task: str, *words: str) -> str:
    """One line of trajectories.jsonl, as far as a replay reads it."""
    replies = [
        Reply(
            message=Message(
                role=Role.ASSISTANT,
                content=word,
                tool_calls=(ToolCall(id="x", name="bash", arguments={"command": word}),),
            ),
            completion_logprobs=(-0.5,),
        )
        for word in words
    ]
    return json.dumps(
        {
            "task_id": "t",
            "prompt": [message.model_dump(mode="json") for message in ask(task)],
            "turns": [{"reply": reply.model_dump(mode="json"), "observations": []} for reply in replies],
        }
    )


def test_a_script_is_said_line_by_line_and_then_ends(tmp_path: Path) -> None:
    path = tmp_path / "relu.toml"
    path.write_text(SCRIPT)
    chat = load_scripted_chat(path)
    first = chat.reply(ask("any"), ())
    assert chat.name == "scripted:relu"
    assert first.message.content == "First."
    edit, bash = first.message.tool_calls
    assert (edit.name, edit.id) == ("edit", "call-0-0")
    assert edit.arguments is not None
    assert edit.arguments["file_text"] == 'int main() { return "\\n"[0]; }\n'
    assert bash.arguments == {"command": "ls", "timeout_s": 5}
    second = chat.reply(ask("any", first), ())
    assert second.message.content == "Done."
    third = chat.reply(ask("any", first, second), ())
    assert third.message.tool_calls == ()
    assert third.message.content
    assert chat.reply(ask("any", first), ()) == second


def test_a_recording_is_replayed_whole(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.jsonl"
    path.write_text(record("A", "one", "two"))
    chat = load_scripted_chat(path)
    first = chat.reply(ask("something else"), ())
    assert first.message.tool_calls[0].arguments == {"command": "one"}
    assert first.completion_logprobs == (-0.5,)
    assert chat.reply(ask("something else", first), ()).message.content == "two"


def test_of_several_recordings_the_tasks_own_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.jsonl"
    path.write_text(record("A", "a") + "\n" + record("B", "b") + "\n\n" + record("B", "later") + "\n")
    chat = load_scripted_chat(path)
    assert chat.reply(ask("B"), ()).message.content == "b"
    assert chat.reply(ask("A"), ()).message.content == "a"
    with pytest.raises(UserError, match="none of 3 recordings"):
        chat.reply(ask("C"), ())


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "[[reply]\n", "mend the TOML"),
        ("a.toml", "", r"reply: Field required; a script is \[\[reply\]\] tables"),
        ("a.toml", "reply = []", "reply: Tuple should have at least 1 item"),
        ("a.toml", "[[reply]]\ntxt = 'a'", r"reply\.0\.txt: Extra inputs"),
        ("a.jsonl", "\n", "holds no recording"),
        ("a.jsonl", "{}\n", "line 1: not a trajectory"),
        ("a.jsonl", "3\n", "line 1: not a trajectory"),
        ("a.jsonl", record("A", "a") + "\n{", "line 2: .*one JSON object a line"),
        ("a.jsonl", record("A", "a").replace("finish_reason", "end"), "line 1: end: Extra inputs"),
    ],
)
def test_what_is_no_script_is_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=words):
        load_scripted_chat(tmp_path / name)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        load_scripted_chat(tmp_path / "none.toml")
