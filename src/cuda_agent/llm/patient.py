"""A model that is asked again when its machine fails."""

import logging
import random
import time

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import ChatModel, Message, Reply, ToolSchema

FIRST_PAUSE_S = 1.0
"""Seconds before the first new try, about; doubled for each further one."""

LONGEST_PAUSE_S = 120.0
"""A pause is never longer. Who asks to be left alone for longer is not asked again."""

_logger = logging.getLogger(__name__)


class BusyError(InfrastructureError):
    """A model's machine has too much to do or is not well, and may have said when to ask again."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """Seconds it wants to be left alone; None when it did not say."""


class PatientChat:
    """Asks another model, and asks again after an InfrastructureError, a bounded number of times.

    Pauses double, and each is stretched by chance up to one and a half times, so that many who were turned
    away together do not come back together. A BusyError's own wish is kept.
    """

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
            InfrastructureError: the last try failed too, or the next one is not wanted for too long.
        """
        for tried in range(self._retries):
            try:
                return self._chat.reply(messages, tools)
            except InfrastructureError as error:
                pause_s = self._choose_pause_s(error, tried)
                if pause_s > LONGEST_PAUSE_S:
                    raise
                _logger.warning("%s: %s; trying again in %.1f s", self.name, error, pause_s)
                time.sleep(pause_s)
        return self._chat.reply(messages, tools)

    def _choose_pause_s(self, error: InfrastructureError, tried: int) -> float:
        asked_s = error.retry_after_s if isinstance(error, BusyError) else None
        chance = 0.5 * random.random()
        doubled_s = min(self._first_pause_s * 2.0**tried * (1.0 + chance), LONGEST_PAUSE_S)
        # A wish is the least: chance is added to it too, for all who were turned away heard the same.
        return doubled_s if asked_s is None else max(doubled_s, asked_s + self._first_pause_s * chance)
