from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.rl.tokenizer import END, build_template, encode_episode, list_texts, train_tokenizer
from cuda_agent.tasks.target import Target

EDIT = ToolSchema(name="edit", description="Write.", parameters={"type": "object", "properties": {}})
CODE = "const F32 v12 = load(in0 + 345, part);\nint64_t n = 64;\n\n"


def say(role: Role, content: str) -> Message:
    return Message(role=role, content=content)


def build_trajectory() -> Trajectory:
    call = ToolCall(id="call-0-0", name="edit", arguments={"path": "a.cpp", "file_text": CODE})
    turns = (
        Turn(
            reply=Reply(message=Message(role=Role.ASSISTANT, content="I write.", tool_calls=(call,))),
            observations=(Message(role=Role.TOOL, content="wrote a.cpp", tool_call_id="call-0-0"),),
            seconds_model=0.0,
            seconds_tools=0.0,
        ),
        Turn(
            reply=Reply(message=say(Role.ASSISTANT, "Done.")),
            observations=(),
            seconds_model=0.0,
            seconds_tools=0.0,
        ),
    )
    return Trajectory(
        task_id="t-0",
        target=Target.CPU,
        policy="expert",
        prompt=(say(Role.SYSTEM, "Write code."), say(Role.USER, "## model.py")),
        tools=(EDIT,),
        turns=turns,
        stop_reason=StopReason.FINISHED,
        reward=3.0,
    )


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(list(list_texts(build_trajectory())) * 4, 400)


def encode(tokenizer: PreTrainedTokenizerFast, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False))


@given(text=st.text())
def test_every_text_comes_back_as_it_was(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    ids = encode(tokenizer, text)
    assert tokenizer.decode(ids, skip_special_tokens=False) == text


def test_digits_stand_alone_but_for_those_of_types(tokenizer: PreTrainedTokenizerFast) -> None:
    texts = [tokenizer.decode([token]) for token in encode(tokenizer, CODE)]
    with_digits = [text for text in texts if any(map(str.isdigit, text))]
    assert [text for text in with_digits if len(text) == 1] == [*list("12"), "0", *list("345"), *list("64")]
    assert any("F32" in text for text in with_digits)
    assert any("int64" in text for text in with_digits)


def test_what_it_was_fitted_to_is_short_and_unseen_text_is_still_possible(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    assert len(encode(tokenizer, CODE)) < len(CODE) / 3
    assert len(encode(tokenizer, "ÿ☃")) == len("ÿ☃".encode())


def test_the_same_texts_give_the_same_tokenizer_also_after_saving(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    again = train_tokenizer(list(list_texts(build_trajectory())) * 4, 400)
    assert again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()
    tokenizer.save_pretrained(tmp_path)
    loaded: Any = AutoTokenizer.from_pretrained(tmp_path)
    assert encode(loaded, CODE + END) == encode(tokenizer, CODE + END)
    assert loaded.chat_template == tokenizer.chat_template
    assert loaded.eos_token_id == tokenizer.eos_token_id


def test_a_vocabulary_without_room_for_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"200 is too small"):
        train_tokenizer(["a"], 200)


def test_an_episodes_tokens_are_the_conversation_and_its_replies_are_generated(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    template = build_template(tokenizer)
    assert template.is_native
    end_id = tokenizer.eos_token_id
    assert isinstance(end_id, int)
    sequence = encode_episode(build_trajectory(), template, end_id=end_id)
    said, text = "", ""
    for token, is_generated in zip(sequence.ids, sequence.is_generated, strict=True):
        piece = str(tokenizer.decode([token], skip_special_tokens=False))
        text += piece
        said += piece if is_generated else ""
    call = (
        'I write.\n<tool_call name="edit">\n<path>\na.cpp\n</path>\n'
        f"<file_text>\n{CODE}\n</file_text>\n</tool_call>"
    )
    assert said == f"{call}{END}Done.{END}"
    assert text == (
        f"<|tools|>edit<|system|>Write code.{END}<|user|>## model.py{END}<|assistant|>{call}{END}"
        f"<|tool|>wrote a.cpp{END}<|assistant|>Done.{END}"
    )
    assert sequence.reward == 3.0
    assert set(sequence.logprobs) == {0.0}


def test_a_reply_is_read_back_as_the_calls_that_it_was_written_from(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    trajectory, template = build_trajectory(), build_template(tokenizer)
    message = trajectory.turns[0].reply.message
    ids = (*template.encode_reply(message), *encode(tokenizer, END))
    parsed = template.parse(ids, (EDIT,), context=trajectory.prompt, context_ids=())
    assert parsed.tool_calls == message.tool_calls
    assert parsed.content == "I write."
    assert template.is_end(ids[-1])
    assert not template.is_end(ids[0])
