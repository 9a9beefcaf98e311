"""Conversations as a checkpoint's tokens, each reply exactly as it was sampled.

A chat template renders a whole conversation to text. Rendering it anew each turn would tokenise again what
the model said, perhaps into other tokens, and some templates drop old thinking: the model would read
another past than it acted in, and the tokens could not be trained on. So only what others said is rendered:
the opening, and what follows each reply. In between stand the sampled tokens. A prompt therefore always
begins with the prompt before it and the tokens sampled then, unless old tool output was left out.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

import jinja2
from pydantic import Field

from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Role, ToolCall, ToolSchema
from cuda_agent.llm.text_form import parse_text, render_reply
from cuda_agent.llm.text_tools import render_messages
from cuda_agent.llm.wire import build_tools

ASKED = "ZQUESTIONZ"
SAID = "ZANSWERZ"
"""Texts that no template has of its own, by which the parts of what it renders are found."""

PROBE_TOOL = ToolSchema(
    name="probe_tool",
    description="Probe.",
    parameters={"type": "object", "properties": {"probe_word": {"type": "string"}}},
)
PROBE_CALL = ToolCall(id="probe0000", name="probe_tool", arguments={"probe_word": "probe <value>"})

_logger = logging.getLogger(__name__)


class Tokenizer(Protocol):
    """What is used of a checkpoint's tokenizer."""

    def apply_chat_template(self, conversation: list[dict[str, Any]], **options: Any) -> Any:  # noqa: ANN401
        """The conversation as text, with `tokenize=False`."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """A text's tokens."""
        ...

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> Any:  # noqa: ANN401
        """Tokens' text."""
        ...


class SampledMessage(Message):
    """What a checkpoint said, with its tokens. In records it is a message like any other."""

    sampled_ids: tuple[int, ...]
    """The exact tokens sampled, the end of the turn too."""
    context: tuple[Message, ...] = Field(repr=False)
    """What it answered."""
    context_ids: tuple[int, ...] = Field(repr=False)
    """The exact tokens that were read for that."""


class ChatTemplate:
    """Between messages and tokens, for one checkpoint."""

    def __init__(self, tokenizer: Tokenizer, *, end_ids: Collection[int], wants_native: bool) -> None:
        """`end_ids` end a turn. Tool calls are native where that is wanted and the template has them.

        Raises:
            UserError: the checkpoint cannot chat.
        """
        self._tokenizer = tokenizer
        self._end_ids = frozenset(end_ids)
        self._end_texts = tuple(self._decode([token]) for token in sorted(self._end_ids))
        self._render([{"role": "user", "content": ASKED}])
        self.is_native = wants_native and self._has_native_calls()
        """Whether the template's own form of tool calls is used, or else the text form."""
        if wants_native and not self.is_native:
            _logger.info("the chat template has no tool calls that can be read: the text form is used")

    def encode(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> tuple[int, ...]:
        """The conversation's tokens, up to where the next reply begins.

        Raises:
            UserError: the template refuses the conversation.
        """
        spoken = [index for index, message in enumerate(messages) if message.role is Role.ASSISTANT]
        opening = messages[: spoken[0]] if spoken else messages
        ids = self._encode(self._render_opening(opening, tools))
        for start, end in zip(spoken, [*spoken[1:], len(messages)], strict=False):
            ids += self._encode_turn(messages[start], messages[start + 1 : end], tools=tools)
        self._check_prefix(messages, ids)
        return tuple(ids)

    def parse(
        self,
        sampled_ids: tuple[int, ...],
        tools: Sequence[ToolSchema],
        *,
        context: tuple[Message, ...],
        context_ids: tuple[int, ...],
    ) -> SampledMessage:
        """What was said, in answer to `context`, whose tokens were `context_ids`."""
        is_ended = bool(sampled_ids) and sampled_ids[-1] in self._end_ids
        text = self._decode(list(sampled_ids[:-1] if is_ended else sampled_ids))
        turn = sum(message.role is Role.ASSISTANT for message in context)
        parsed = parse_text(text, tools, turn=turn)
        return SampledMessage(
            role=Role.ASSISTANT,
            content=parsed.prose,
            tool_calls=parsed.calls,
            sampled_ids=sampled_ids,
            context=context,
            context_ids=context_ids,
        )

    def encode_reply(self, message: Message) -> tuple[int, ...]:
        """A reply's own tokens: those sampled, or else its text's, without the end of the turn."""
        if isinstance(message, SampledMessage):
            return message.sampled_ids
        return tuple(self._encode(render_reply(message)))

    def is_end(self, token: int) -> bool:
        """Whether a token ends a turn."""
        return token in self._end_ids

    def _render_opening(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> str:
        if not self.is_native:
            return self._render(_build(render_messages(messages, tools) if tools else messages))
        return self._render(_build(messages), tools=build_tools(tools) or None)

    def _encode_turn(
        self, message: Message, answers: Sequence[Message], *, tools: Sequence[ToolSchema]
    ) -> list[int]:
        """A reply's own tokens, and what the template puts between them and the next reply."""
        said = list(self.encode_reply(message))
        after = self._render_after(message, answers, tools=tools)
        if said and said[-1] in self._end_ids:
            ending = next((text for text in self._end_texts if text and after.startswith(text)), "")
            after = after.removeprefix(ending)
        return said + self._encode(after)

    def _render_after(
        self, message: Message, answers: Sequence[Message], *, tools: Sequence[ToolSchema]
    ) -> str:
        """What stands after a reply: its end, the answers to it, the beginning of the next one."""
        if self.is_native:
            built = _build(answers, names={call.id: call.name for call in message.tool_calls})
        else:
            rendered = render_messages((message, *answers), tools)
            place = next(index for index, each in enumerate(rendered) if each.role is Role.ASSISTANT)
            built = _build(rendered[place + 1 :])
        start = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}]
        return self._render([*start, *built]).rpartition(SAID)[2]

    def _render(
        self, conversation: list[dict[str, Any]], *, tools: list[dict[str, Any]] | None = None
    ) -> str:
        try:
            return self._apply(conversation, tools=tools)
        except (jinja2.TemplateError, ValueError) as error:
            if conversation[0]["role"] != Role.SYSTEM.value or conversation[1]["role"] != Role.USER.value:
                raise UserError(f"the checkpoint's chat template refuses: {error}") from error
        # Some models know no system message: what it says can begin the user's.
        system, user, *rest = conversation
        joined = {**user, "content": f"{system['content']}\n\n{user['content']}"}
        return self._render([joined, *rest], tools=tools)

    def _apply(self, conversation: list[dict[str, Any]], *, tools: list[dict[str, Any]] | None = None) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                conversation, tools=tools, add_generation_prompt=True, tokenize=False
            )
        )

    def _has_native_calls(self) -> bool:
        """Whether the template tells of tools, shows their answers, and writes calls as we read them."""
        question = {"role": "user", "content": ASKED}
        call = _build_call(PROBE_CALL)
        answer = {"role": "tool", "tool_call_id": PROBE_CALL.id, "name": PROBE_TOOL.name, "content": SAID}
        tools = build_tools([PROBE_TOOL])
        try:
            told = self._apply([question], tools=tools)
            asked = self._apply(
                [question, {"role": "assistant", "content": "", "tool_calls": [call]}], tools=tools
            )
            after = self._apply([question, {"role": "assistant", "content": "Yes."}, answer])
        except (jinja2.TemplateError, ValueError, TypeError):
            return False
        calls = parse_text(asked.rpartition(ASKED)[2], [PROBE_TOOL], turn=0).calls
        found = [(each.name, each.arguments) for each in calls]
        is_read = found == [(PROBE_CALL.name, PROBE_CALL.arguments)]
        return PROBE_TOOL.name in told and SAID in after and is_read

    def _check_prefix(self, messages: Sequence[Message], ids: list[int]) -> None:
        """Where nothing was left out, the last reply's tokens and all before them stand as they were."""
        for place, message in reversed(list(enumerate(messages))):
            if isinstance(message, SampledMessage):
                before = [*message.context_ids, *message.sampled_ids]
                is_whole = all(
                    old is new for old, new in zip(message.context, messages[:place], strict=False)
                )
                assert not is_whole or ids[: len(before)] == before, "a prompt lost what was sampled"
                return

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def _decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))


def _build(messages: Sequence[Message], *, names: dict[str, str] | None = None) -> list[dict[str, Any]]:
    return list(_build_each(messages, names or {}))


def _build_each(messages: Sequence[Message], names: dict[str, str]) -> Iterator[dict[str, Any]]:
    for message in messages:
        built: dict[str, Any] = {"role": message.role.value, "content": message.content}
        if message.tool_call_id is not None:
            name = names.get(message.tool_call_id, "")
            built |= {"tool_call_id": message.tool_call_id, "name": name}
        yield built


def _build_call(call: ToolCall) -> dict[str, Any]:
    """A call as templates read it: its arguments are an object there, not text."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }
