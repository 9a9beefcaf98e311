"""A policy whose failures cannot be taken for ours."""

import logging

from cuda_agent.errors import CudaAgentError
from cuda_agent.llm.chat import ChatModel, Message, Reply, ToolSchema

_logger = logging.getLogger(__name__)


class PolicyError(CudaAgentError):
    """The policy could not answer: its own fault, or its machine's after every retry."""


class CapturedChat:
    """Raises every failure of another model as a PolicyError."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.name = chat.name
        """The other model's name."""

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The other model's answer.

        Raises:
            PolicyError: whatever went wrong.
        """
        try:
            return self._chat.reply(messages, tools)
        except Exception as error:
            _logger.debug("%s failed", self.name, exc_info=True)
            raise PolicyError(f"{type(error).__name__}: {error}") from error
