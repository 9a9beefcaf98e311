import pytest

from cuda_agent.expert.chat import PROFILE, SUBMIT, ExpertChat, find_answers
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from tests.expert.test_observation import GOOD
from tests.expert.zoo import ZOO, X, write_module

Messages = tuple[Message, ...]


@pytest.fixture(scope="module")
def chat(sandbox: Sandbox) -> ExpertChat:
    return ExpertChat(sandbox=sandbox, target=Target.CPU, tries=3)


def ask(source: str) -> Messages:
    return (Message(role=Role.USER, content=f"Target: cpu\n\n## model.py\n\n```python\n{source}\n```\n"),)


def answer(messages: Messages, reply: Reply, *, observation: str) -> Messages:
    """The conversation after the tools have answered: the last call with `observation`."""
    calls = reply.message.tool_calls
    texts = ["written"] * (len(calls) - 1) + [observation]
    tools = (
        Message(role=Role.TOOL, content=text, tool_call_id=call.id)
        for call, text in zip(calls, texts, strict=True)
    )
    return (*messages, reply.message, *tools)


def get_command(reply: Reply) -> object:
    arguments = reply.message.tool_calls[-1].arguments
    return arguments and arguments.get("command")


def test_an_episode_from_plan_to_end(chat: ExpertChat) -> None:
    messages = ask(ZOO["softmax"])
    first = chat.reply(messages, ())
    assert "They fit into 1 fused kernel" in first.message.content
    paths = [(call.arguments or {}).get("path") for call in first.message.tool_calls]
    assert paths == ["model_new.py", "kernels/vec.h", "kernels/vec_math.h", "kernels/fused.cpp", None]
    assert get_command(first) == PROFILE

    messages = answer(messages, first, observation=GOOD)
    second = chat.reply(messages, ())
    assert "3.71x eager and 1.37x torch.compile" in second.message.content
    assert get_command(second) == PROFILE

    slower = GOOD.replace("1.37x (", "1.10x (")
    messages = answer(messages, second, observation=slower)
    third = chat.reply(messages, ())
    assert "best of 2 variants" in third.message.content
    restored, submit = third.message.tool_calls
    assert (submit.arguments or {})["command"] == SUBMIT
    written = first.message.tool_calls[3].arguments
    assert restored.arguments == written

    last = chat.reply(answer(messages, third, observation=GOOD.replace("reward if submitted", "reward")), ())
    assert last.message.tool_calls == ()
    assert last.message.content.startswith("Submitted: 3.71x eager, 1.37x torch.compile.")


def test_a_failure_leads_to_another_variant_and_then_to_an_honest_end(chat: ExpertChat) -> None:
    messages = ask(ZOO["softmax"])
    bad = "rules: ok\nbuild: compile_error: no such thing\nreward: -1"
    for _ in range(3):
        reply = chat.reply(messages, ())
        assert get_command(reply) == PROFILE
        messages = answer(messages, reply, observation=bad)
    end = chat.reply(messages, ())
    assert end.message.tool_calls == ()
    assert "no variant passed: build: compile_error: no such thing" in end.message.content


def test_a_correct_kernel_is_submitted_even_when_it_is_not_faster(chat: ExpertChat) -> None:
    messages = ask(ZOO["softmax"])
    slow = GOOD.replace("3.71x (", "1.01x (").replace("submitted: 3", "submitted: 1")
    reply = chat.reply(messages, ())
    while get_command(reply) == PROFILE:
        messages = answer(messages, reply, observation=slow)
        reply = chat.reply(messages, ())
    assert get_command(reply) == SUBMIT
    assert "does not beat both baselines" in reply.message.content


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (ask(write_module("return torch.nextafter(x, x * 2)", X)), "aten.nextafter"),
        ((Message(role=Role.USER, content="hello"),), "no reference under the heading"),
    ],
)
def test_what_it_cannot_do_it_says(chat: ExpertChat, messages: Messages, reason: str) -> None:
    reply = chat.reply(messages, ())
    assert reply.message.tool_calls == ()
    assert reason in reply.message.content


def test_the_same_conversation_gets_the_same_answer(sandbox: Sandbox, chat: ExpertChat) -> None:
    messages = answer(ask(ZOO["softmax"]), chat.reply(ask(ZOO["softmax"]), ()), observation=GOOD)
    other = ExpertChat(sandbox=sandbox, target=Target.CPU, tries=3)
    assert other.reply(messages, ()) == chat.reply(messages, ())


def test_answers_are_matched_by_call(chat: ExpertChat) -> None:
    messages = answer(ask(ZOO["softmax"]), chat.reply(ask(ZOO["softmax"]), ()), observation=GOOD)
    assert find_answers(messages, PROFILE) == [GOOD]
    assert find_answers(messages, SUBMIT) == []


def ask_briefly(source: str, *, last: str) -> Messages:
    system = f"Write it. In place: `kernels/vec.h` `kernels/vec_math.h`. {last}"
    return (Message(role=Role.SYSTEM, content=system), *ask(source))


def test_a_brief_episode_writes_no_headers_and_no_words(chat: ExpertChat) -> None:
    messages = ask_briefly(ZOO["softmax"], last="Run `cuda-agent profile`.")
    first = chat.reply(messages, ())
    assert first.message.content == ""
    paths = [(call.arguments or {}).get("path") for call in first.message.tool_calls]
    assert paths == ["model_new.py", "kernels/fused.cpp", None]
    assert get_command(first) == PROFILE
    full = chat.reply(ask(ZOO["softmax"]), ())
    shorter, longer = (
        str((reply.message.tool_calls[place].arguments or {})["file_text"])
        for reply, place in ((first, 1), (full, 3))
    )
    assert shorter == longer[longer.index("#include") :]

    great = GOOD.replace("1.37x (", "1.60x (")
    messages = answer(messages, first, observation=great)
    second = chat.reply(messages, ())
    assert [call.name for call in second.message.tool_calls] == ["bash"]
    assert get_command(second) == SUBMIT
    last = chat.reply(answer(messages, second, observation=GOOD.replace("reward if submitted", "reward")), ())
    assert last.message == Message(role=Role.ASSISTANT, content="Done.")


def test_a_single_answer_is_the_files_alone(chat: ExpertChat) -> None:
    reply = chat.reply(ask_briefly(ZOO["softmax"], last="Answer once, with both files."), ())
    calls = [(call.name, (call.arguments or {}).get("path")) for call in reply.message.tool_calls]
    assert calls == [("edit", "model_new.py"), ("edit", "kernels/fused.cpp")]
