"""The decoder as chat models, one for each of the episodes that are held at once.

There is no thread of its own: one of those who wait leads, and steps for all until its own reply is there.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial

from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.llm.chat import FinishReason, Message, Reply, ToolSchema, Usage
from cuda_agent.llm.chat_template import ChatTemplate
from cuda_agent.llm.local import Asked, Sampled
from cuda_agent.rl.decoder import Decoder
from cuda_agent.rl.order import derive_seed


@dataclass
class _Ticket:
    """One reply that somebody waits for."""

    sampled: Sampled | None = None
    """What came of it."""
    is_given_up: bool = False
    """Whether nobody wants it any more."""

    @property
    def is_over(self) -> bool:
        return self.sampled is not None or self.is_given_up


@dataclass
class _Desk:
    """Who waits, and who leads."""

    free: list[int]
    """Slots that nobody has."""
    waiting: dict[int, _Ticket] = field(default_factory=dict)
    """Replies under way, by slot."""
    orders: list[Callable[[], None]] = field(default_factory=list)
    """What the decoder is to be told before its next step."""
    is_led: bool = False
    """Whether somebody steps."""


class Conversations:
    """Holds many conversations with one decoder, each from threads of its own."""

    def __init__(
        self,
        decoder: Decoder,
        template: ChatTemplate,
        *,
        name: str,
        slots: int,
        reply_tokens: int,
        while_stepping: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """As many as the decoder has `slots`; `while_stepping` is entered by whoever computes."""
        self.name = name
        """How records name this policy."""
        self.template = template
        """Between messages and tokens."""
        self.reply_tokens = reply_tokens
        """The cap of a reply."""
        self._decoder = decoder
        self._while_stepping = while_stepping
        self._desk = _Desk(free=list(range(slots)))
        # Held while the desk is changed; the decoder is touched by whoever leads, and by nobody else.
        self._changed = threading.Condition()

    @contextmanager
    def open(self, seed: int) -> Iterator["Conversation"]:
        """A conversation whose random numbers follow from `seed`; leaving it makes room for another."""
        with self._changed:
            assert self._desk.free, "there are more conversations than slots"
            slot = self._desk.free.pop()
        try:
            yield Conversation(self, slot, seed=seed)
        finally:
            with self._changed:
                if slot in self._desk.waiting:
                    self._desk.waiting.pop(slot).is_given_up = True
                self._desk.orders.append(partial(self._decoder.give_up, slot))
                self._desk.free.append(slot)
                self._changed.notify_all()

    @property
    def window_tokens(self) -> int:
        """Tokens that a conversation and its replies may have."""
        return self._decoder.window_tokens

    def ask(self, slot: int, asked: Asked) -> Sampled:
        """The slot's reply, once it is sampled.

        Raises:
            InfrastructureError: the device has no memory left, or the conversation was left meanwhile.
        """
        ticket = _Ticket()
        with self._changed:
            self._desk.orders.append(partial(self._decoder.begin, slot, asked))
            self._desk.waiting[slot] = ticket
            self._changed.wait_for(lambda: ticket.is_over or not self._desk.is_led)
            leads = not ticket.is_over
            self._desk.is_led = self._desk.is_led or leads
        try:
            if leads:
                self._lead(ticket)
        except BaseException:
            self._withdraw(slot, ticket)
            raise
        if ticket.sampled is None:
            raise InfrastructureError("the conversation was left before the reply was there")
        return ticket.sampled

    def _lead(self, ticket: _Ticket) -> None:
        """Step for all who wait until one's own reply is there; then somebody else leads."""
        try:
            with self._while_stepping():
                while not ticket.is_over:
                    with self._changed:
                        orders, self._desk.orders = self._desk.orders, []
                    for order in orders:
                        order()
                    self._hand_out(self._decoder.step())
        finally:
            with self._changed:
                self._desk.is_led = False
                self._changed.notify_all()

    def _hand_out(self, replies: Mapping[int, Sampled]) -> None:
        if replies:
            with self._changed:
                for slot, sampled in replies.items():
                    if slot in self._desk.waiting:
                        self._desk.waiting.pop(slot).sampled = sampled
                self._changed.notify_all()

    def _withdraw(self, slot: int, ticket: _Ticket) -> None:
        """A reply that failed is nobody's any more, so that it can be asked for again."""
        with self._changed:
            if self._desk.waiting.get(slot) is ticket:
                del self._desk.waiting[slot]
                self._desk.orders.append(partial(self._decoder.give_up, slot))


class Conversation:
    """One of them: a chat model with the tokens it read and sampled."""

    def __init__(self, conversations: Conversations, slot: int, *, seed: int) -> None:
        """Use `Conversations.open`."""
        self._conversations = conversations
        self._slot = slot
        self._seed = seed

    @property
    def name(self) -> str:
        """How records name this policy."""
        return self._conversations.name

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The answer, with the tokens read and sampled.

        Raises:
            UserError: the conversation does not fit the window.
            InfrastructureError: the device has no memory left.
        """
        template, window = self._conversations.template, self._conversations.window_tokens
        prompt_ids = template.encode(messages, tools)
        most_tokens = min(self._conversations.reply_tokens, window - len(prompt_ids))
        if most_tokens < 1:
            raise UserError(
                f"{self.name} holds {window} tokens, and the conversation has {len(prompt_ids)}: give "
                "shorter tasks, or a model with a longer window"
            )
        seed = derive_seed("reply", self._seed, len(messages))
        sampled = self._conversations.ask(self._slot, Asked(prompt_ids, most_tokens, seed))
        message = template.parse(sampled.ids, tools, context=messages, context_ids=prompt_ids)
        is_ended = template.is_end(sampled.ids[-1])
        return Reply(
            message=message,
            finish_reason=FinishReason.STOP if is_ended else FinishReason.LENGTH,
            usage=Usage(prompt_tokens=len(prompt_ids), completion_tokens=len(sampled.ids)),
            prompt_ids=prompt_ids,
            completion_ids=sampled.ids,
            completion_logprobs=sampled.logprobs,
        )
