"""What was sampled stays as it was sampled, whatever the chat template does (field report U60)."""

from typing import Any

import pytest

pytest.importorskip("transformers")

from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema
from cuda_agent.llm.chat_template import ChatTemplate, SampledMessage, Tokenizer
from tests.llm.tiny_llama import CHATML, END, WITH_TOOLS, build_tokenizer, write_call

TOOLS = (
    ToolSchema(
        name="bash",
        description="Run a command.",
        parameters={"type": "object", "properties": {"command": {"type": "string"}}},
    ),
)
SYSTEM = Message(role=Role.SYSTEM, content="You write kernels.")
TASK = Message(role=Role.USER, content="Make the row kernel faster.")
FORMS = [(WITH_TOOLS, True), (CHATML, True), (WITH_TOOLS, False)]


def build(source: str | None = WITH_TOOLS, *, native: bool = True) -> tuple[ChatTemplate, Any]:
    tokenizer = build_tokenizer(source)
    return ChatTemplate(tokenizer, end_ids=[tokenizer.eos_token_id], wants_native=native), tokenizer


def spell(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """The text letter by letter: other tokens than the tokenizer would make of it."""
    return tuple(token for letter in text for token in tokenizer.encode(letter, add_special_tokens=False))


def say(template: ChatTemplate, messages: tuple[Message, ...], *, ids: tuple[int, ...]) -> SampledMessage:
    return template.parse(ids, TOOLS, context=messages, context_ids=template.encode(messages, TOOLS))


def answer(message: Message, text: str) -> tuple[Message, ...]:
    return tuple(Message(role=Role.TOOL, content=text, tool_call_id=call.id) for call in message.tool_calls)


@pytest.mark.parametrize(("source", "native"), FORMS)
def test_a_prompt_begins_with_all_that_was_read_and_sampled_before(source: str, native: bool) -> None:
    template, tokenizer = build(source, native=native)
    messages: tuple[Message, ...] = (SYSTEM, TASK)
    before: tuple[int, ...] = ()
    for turn, end in enumerate([END, "", END]):
        prompt = template.encode(messages, TOOLS)
        assert prompt[: len(before)] == before
        text = f"<think>the row {turn}</think>the kernel\n" + write_call("bash", {"command": f"echo {turn}"})
        said = spell(tokenizer, text)
        assert list(said) != tokenizer.encode(text, add_special_tokens=False)
        ids = said + ((tokenizer.eos_token_id,) if end else ())
        message = say(template, messages, ids=ids)
        assert [(call.name, call.arguments) for call in message.tool_calls] == [
            ("bash", {"command": f"echo {turn}"})
        ]
        messages = (*messages, message, *answer(message, f"out {turn}"))
        before = prompt + ids
    assert template.encode(messages, TOOLS)[: len(before)] == before


@pytest.mark.parametrize(("source", "native"), FORMS)
def test_between_two_replies_the_text_is_the_templates_own(source: str, native: bool) -> None:
    template, tokenizer = build(source, native=native)
    ids = (*tokenizer.encode(write_call("bash", {"command": "ls"})), tokenizer.eos_token_id)
    message = say(template, (SYSTEM, TASK), ids=ids)
    text = tokenizer.decode(template.encode((SYSTEM, TASK, message, *answer(message, "a.cu")), TOOLS))
    assert text.count(END) == text.count("<|im_start|>") - 1
    assert text.endswith("<|im_start|>assistant\n")
    tail = text.rpartition("</tool_call>")[2]
    marks = (
        ("<tool_response>", "</tool_response>")
        if template.is_native
        else ('<tool_result name="bash">', "</tool_result>")
    )
    assert tail == f"{END}\n<|im_start|>user\n{marks[0]}\na.cu\n{marks[1]}{END}\n<|im_start|>assistant\n"


def test_a_reply_that_was_cut_off_is_closed_by_the_template() -> None:
    template, tokenizer = build()
    message = say(template, (SYSTEM, TASK), ids=spell(tokenizer, "the row"))
    note = Message(role=Role.USER, content="Go on.")
    text = tokenizer.decode(template.encode((SYSTEM, TASK, message, note), TOOLS))
    assert text.endswith(f"the row{END}\n<|im_start|>user\nGo on.{END}\n<|im_start|>assistant\n")


def test_old_output_that_is_left_out_leaves_what_was_sampled() -> None:
    template, tokenizer = build()
    ids = (*spell(tokenizer, write_call("bash", {"command": "ls"})), tokenizer.eos_token_id)
    message = say(template, (SYSTEM, TASK), ids=ids)
    whole = template.encode((SYSTEM, TASK, message, *answer(message, "row " * 50)), TOOLS)
    short = template.encode((SYSTEM, TASK, message, *answer(message, "[left out]")), TOOLS)
    read = template.encode((SYSTEM, TASK), TOOLS)
    assert whole[: len(read + ids)] == short[: len(read + ids)] == read + ids
    assert len(short) < len(whole)


def test_a_prompt_that_loses_what_was_sampled_is_noticed() -> None:
    template, tokenizer = build()
    messages = (SYSTEM, TASK)
    message = say(template, messages, ids=spell(tokenizer, "the row"))
    broken = message.model_copy(update={"context_ids": message.context_ids[1:]})
    with pytest.raises(AssertionError, match="lost what was sampled"):
        template.encode((*messages, broken, Message(role=Role.USER, content="Go on.")), TOOLS)


def test_native_calls_are_used_where_the_template_has_them() -> None:
    assert build(WITH_TOOLS)[0].is_native
    assert not build(WITH_TOOLS, native=False)[0].is_native
    assert not build(CHATML)[0].is_native
    # A template whose calls would not be understood when the model writes them.
    assert not build(WITH_TOOLS.replace("<tool_call>", "[CALL]").replace("</tool_call>", "[/CALL]"))[
        0
    ].is_native
    # One that refuses tool messages, though it is told of tools.
    refusing = WITH_TOOLS.replace("<tool_response>", "{{ raise_exception('no tools') }}")
    assert not build(refusing)[0].is_native


def test_tools_are_told_natively_or_in_words() -> None:
    for native in (True, False):
        template, tokenizer = build(native=native)
        text = tokenizer.decode(template.encode((SYSTEM, TASK), TOOLS))
        assert ('"name": "bash"' in text) is native
        assert ("# How to act" in text) is not native
        assert "Run a command." in text


def test_a_template_without_system_messages_gets_it_with_the_users() -> None:
    refusing = "{%- if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
    template, tokenizer = build(refusing)
    text = tokenizer.decode(template.encode((SYSTEM, TASK), TOOLS))
    assert text.startswith("<|im_start|>user\nYou write kernels.\n\n# How to act")
    assert text.endswith("Make the row kernel faster.<|im_end|>\n<|im_start|>assistant\n")


def test_a_template_that_refuses_everything_is_the_users_to_mend() -> None:
    with pytest.raises(UserError, match="template refuses: never"):
        build("{{ raise_exception('never') }}")


def test_what_others_said_before_is_read_too() -> None:
    template, tokenizer = build()
    foreign = Message(role=Role.ASSISTANT, content="the kernel")
    text = tokenizer.decode(template.encode((SYSTEM, TASK, foreign, TASK), TOOLS))
    assert f"<|im_start|>assistant\nthe kernel{END}\n<|im_start|>user\nMake" in text


def test_in_a_record_it_is_a_message_like_any_other() -> None:
    template, tokenizer = build()
    reply = Reply(message=say(template, (SYSTEM, TASK), ids=spell(tokenizer, "the row")))
    assert "sampled_ids" not in reply.model_dump_json()
    assert Reply.model_validate_json(reply.model_dump_json()).message.content == "the row"
