"""A policy whose tokens come from an engine elsewhere: token in, token out."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cuda_agent.errors import ConfigError, InfrastructureError, UserError
from cuda_agent.llm.chat import FinishReason, Message, Reply, ToolSchema, Usage
from cuda_agent.llm.chat_template import ChatTemplate


@dataclass(frozen=True)
class Generated:
    """What an engine sampled."""

    ids: tuple[int, ...]
    """Its tokens, the end of the turn too."""
    logprobs: tuple[float, ...] | None
    """Natural-log probability of each, as it was drawn."""


Generate = Callable[[tuple[int, ...], int], Awaitable[Generated]]
"""Sample a continuation of a prompt's tokens, of at most so many."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What is known of a checkpoint beside its weights."""

    template: ChatTemplate
    """Between messages and tokens."""
    end_ids: frozenset[int]
    """Tokens that end a turn."""
    window_tokens: int
    """How many tokens an episode may have."""


class EngineChat:
    """A `ChatModel` for threads that are not the engine's: each reply waits for the engine's event loop."""

    name = "engine"

    def __init__(
        self, generate: Generate, vocabulary: Vocabulary, *, loop: asyncio.AbstractEventLoop
    ) -> None:
        """`generate` is awaited on `loop`, which runs in another thread than those that ask."""
        self._generate = generate
        self._vocabulary = vocabulary
        self._loop = loop

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The engine's answer, with the tokens read and sampled.

        Raises:
            UserError: the conversation fills the window.
            InfrastructureError: the engine failed; asking again may help.
        """
        template = self._vocabulary.template
        prompt_ids = template.encode(messages, tools)
        room = self._vocabulary.window_tokens - len(prompt_ids)
        if room < 1:
            raise UserError(f"the conversation has {len(prompt_ids)} tokens, and the window is full")
        generated = self._ask(prompt_ids, room)
        assert generated.logprobs is not None
        is_ended = generated.ids[-1] in self._vocabulary.end_ids
        return Reply(
            message=template.parse(generated.ids, tools, context=messages, context_ids=prompt_ids),
            finish_reason=FinishReason.STOP if is_ended else FinishReason.LENGTH,
            usage=Usage(prompt_tokens=len(prompt_ids), completion_tokens=len(generated.ids)),
            prompt_ids=prompt_ids,
            completion_ids=generated.ids,
            completion_logprobs=generated.logprobs,
        )

    def _ask(self, prompt_ids: tuple[int, ...], room: int) -> Generated:
        async def generate() -> Generated:
            return await self._generate(prompt_ids, room)

        try:
            generated = asyncio.run_coroutine_threadsafe(generate(), self._loop).result()
        except Exception as error:
            raise InfrastructureError(f"the engine failed: {type(error).__name__}: {error}") from error
        if not generated.ids:
            raise InfrastructureError("the engine sampled no token")
        if generated.logprobs is None or len(generated.logprobs) != len(generated.ids):
            raise ConfigError(
                "the engine gives no log-probability for each token; set "
                "actor_rollout_ref.rollout.calculate_log_probs=True"
            )
        return generated
