"""How long an episode may go on."""

import time
from collections import deque

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from cuda_agent.agent.context import CHARACTERS_PER_TOKEN
from cuda_agent.agent.stuck import CYCLE_TURNS, find_stuck
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.config import Config
from cuda_agent.llm.chat import Message


class EpisodeLimits(Config):
    """Limits of one episode; each ends it with its own StopReason."""

    turns: PositiveInt = 150
    """Replies of the model (the paper trains with 150 and evaluates with 200)."""
    reply_tokens: PositiveInt = 32_768
    """Tokens of one reply; a longer one is not acted on and counts as an invalid call."""
    total_tokens: PositiveInt = 131_072
    """Tokens of the whole conversation with the next reply, after old tool output was left out."""
    output_characters: PositiveInt = 16_000
    """How much of one tool's output is shown; less where the conversation may have few tokens."""
    command_s: PositiveFloat = 300.0
    """Seconds one command may take, without the judge's and the wait for it."""
    episode_s: PositiveFloat = 7_200.0
    """Seconds all turns together may take; what is going on when they are over is given up."""
    invalid_turns: PositiveInt = 5
    """Turns in a row without one usable call, of unknown tools or with unusable arguments."""
    repeated_turns: PositiveInt = 5
    """Times in a row that exactly the same is asked for, or the same cycle of up to three turns."""
    idle_turns: PositiveInt = 40
    """Turns in a row that change no file."""
    retries: NonNegativeInt = 3
    """How often a model, or the final judging, is tried again when the machine fails."""

    @property
    def shown_characters(self) -> int:
        """`output_characters`, or what a quarter of the conversation's tokens hold if that is less."""
        return min(self.output_characters, int(self.total_tokens / 4 * CHARACTERS_PER_TOKEN))


class LimitWatch:
    """Watches one episode's turns and says when it must stop."""

    def __init__(self, limits: EpisodeLimits) -> None:
        self._limits = limits
        self._end_s = time.monotonic() + limits.episode_s
        self._turns = 0
        self._invalid = 0
        self._recent: deque[tuple[Message, ...]] = deque(
            maxlen=max(limits.idle_turns, limits.repeated_turns * CYCLE_TURNS)
        )

    def find_stop(self, turn: Turn, *, valid: bool) -> tuple[StopReason, str] | None:
        """Why the episode must stop after this turn, with the limit that was reached; None to go on.

        `valid` says whether any of the turn's calls could be carried out.
        """
        limits = self._limits
        self._turns += 1
        self._invalid = 0 if valid else self._invalid + 1
        self._recent.append((turn.reply.message, *turn.observations))
        if self._invalid >= limits.invalid_turns:
            return StopReason.INVALID_CALLS, f"{self._invalid} turns in a row without a usable call"
        messages = [message for recent in self._recent for message in recent]
        stuck = find_stuck(messages, repeated_turns=limits.repeated_turns, idle_turns=limits.idle_turns)
        if stuck:
            return StopReason.STUCK, stuck
        if self._turns >= limits.turns:
            return StopReason.MAX_TURNS, f"{limits.turns} turns"
        return None if self.left_s else self.tell_end()

    @property
    def left_s(self) -> float:
        """Seconds that the episode may still take."""
        return max(0.0, self._end_s - time.monotonic())

    def tell_end(self) -> tuple[StopReason, str]:
        """That the time is over."""
        return StopReason.WALL_CLOCK, f"{self._limits.episode_s:g} seconds"
