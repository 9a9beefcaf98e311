"""How long an episode may go on."""

import time
from collections.abc import Sequence

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.config import Config


class EpisodeLimits(Config):
    """Limits of one episode; each ends it with its own StopReason."""

    turns: PositiveInt = 150
    """Replies of the model (the paper trains with 150 and evaluates with 200)."""
    reply_tokens: PositiveInt = 32_768
    """Tokens of one reply; a longer one is not acted on and counts as an invalid call."""
    total_tokens: PositiveInt = 131_072
    """Tokens of the whole conversation, after old tool output was left out to save room."""
    command_s: PositiveFloat = 300.0
    """Seconds one command may take."""
    episode_s: PositiveFloat = 7_200.0
    """Seconds the whole episode may take; checked between turns."""
    invalid_turns: PositiveInt = 5
    """Turns in a row without one usable call, of unknown tools or with unusable arguments."""
    repeated_turns: PositiveInt = 5
    """Turns in a row that ask for exactly the same."""
    retries: NonNegativeInt = 3
    """How often a model, or the final judging, is tried again when the machine fails."""


class LimitWatch:
    """Watches one episode's turns and says when it must stop."""

    def __init__(self, limits: EpisodeLimits) -> None:
        self._limits = limits
        self._end_s = time.monotonic() + limits.episode_s
        self._turns = 0
        self._invalid = 0
        self._repeated = 0
        self._last: Sequence[object] = ()

    def find_stop(self, turn: Turn, *, valid: bool) -> tuple[StopReason, str] | None:
        """Why the episode must stop after this turn, with the limit that was reached; None to go on.

        `valid` says whether any of the turn's calls could be carried out.
        """
        limits = self._limits
        self._turns += 1
        self._invalid = 0 if valid else self._invalid + 1
        action = [(call.name, call.arguments, call.raw_arguments) for call in turn.reply.message.tool_calls]
        self._repeated = self._repeated + 1 if action == self._last else 1
        self._last = action
        if self._invalid >= limits.invalid_turns:
            return StopReason.INVALID_CALLS, f"{self._invalid} turns in a row without a usable call"
        if self._repeated >= limits.repeated_turns:
            return StopReason.STUCK, f"the same action {self._repeated} times in a row"
        if self._turns >= limits.turns:
            return StopReason.MAX_TURNS, f"{limits.turns} turns"
        if time.monotonic() >= self._end_s:
            return StopReason.WALL_CLOCK, f"{limits.episode_s:g} seconds"
        return None
