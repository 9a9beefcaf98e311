"""A model that is asked again when its machine fails."""

import logging
import time

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import ChatModel, Message, Reply, ToolSchema

FIRST_PAUSE_S = 1.0
"""Seconds before the first new try; doubled for each further one."""

_logger = logging.getLogger(__name__)


class PatientChat:
    """Asks another model, and asks again after an InfrastructureError, a bounded number of times."""

    def __init__(self, chat: ChatModel, *, retries: int, first_pause_s: float = FIRST_PAUSE_S) -> None:
        self._chat = chat
        self._retries = retries
        self._first_pause_s = first_pause_s

    @property
    def name(self) -> str:
        """The other model's name."""
        return self._chat.name

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The other model's answer.

        Raises:
            InfrastructureError: the last try failed too.
        """
        for tried in range(self._retries):
            try:
                return self._chat.reply(messages, tools)
            except InfrastructureError as error:
                pause_s = self._first_pause_s * 2**tried
                _logger.warning("%s: %s; trying again in %g s", self.name, error, pause_s)
                time.sleep(pause_s)
        return self._chat.reply(messages, tools)
