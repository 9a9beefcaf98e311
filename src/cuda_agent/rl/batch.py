"""Trajectories as tensors.

Axes: B trajectories, T tokens. Position t of every tensor speaks of token t: its log-probability given
the tokens before it, the value of the state before it, its advantage. Padding is at the end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.errors import UserError


@dataclass(frozen=True)
class TokenSequence:
    """One episode's tokens, exactly as read and sampled."""

    ids: tuple[int, ...]
    """The prompt, and then generated and tool tokens as they came; the last one is generated."""
    is_generated: tuple[bool, ...]
    """Which of them the policy sampled."""
    logprobs: tuple[float, ...]
    """Natural-log probability that each was sampled with; 0 where nothing was sampled."""
    reward: float
    """The episode's reward; it sits on the last generated token."""


@dataclass(frozen=True)
class Batch:
    """Some token sequences, padded to one length."""

    ids_BT: Tensor
    """Token ids, int64; the padding is 0."""
    is_token_BT: Tensor
    """Where tokens are and not padding, bool."""
    is_generated_BT: Tensor
    """Where the policy sampled, bool: the only tokens that are trained on."""
    rollout_logprobs_BT: Tensor
    """Log-probabilities as sampled, float32; 0 where nothing was sampled."""
    rewards_BT: Tensor
    """Each trajectory's reward at its last generated token, 0 elsewhere, float32."""

    def to(self, device: torch.device) -> "Batch":
        """The same tensors on another device."""
        return Batch(*(tensor.to(device) for tensor in vars(self).values()))

    def take(self, rows: Tensor | slice) -> "Batch":
        """Some of the sequences, without the padding that only others need."""
        taken = self.is_token_BT[rows]
        length = max(1, int(taken.sum(dim=1).max())) if taken.numel() else 0
        return Batch(*(tensor[rows, :length] for tensor in vars(self).values()))

    def split(self, size: int) -> Iterator[tuple[slice, "Batch"]]:
        """All sequences in order, `size` at a time, each part with its rows."""
        for start in range(0, len(self.ids_BT), size):
            rows = slice(start, start + size)
            yield rows, self.take(rows)


def build_sequence(trajectory: Trajectory) -> TokenSequence:
    """The tokens of an episode: each turn's prompt must go on from the turn before.

    What came after the last reply was never read by the policy, so it is left out.

    Raises:
        UserError: the policy recorded no tokens, or a prompt does not begin with all tokens before it (old
            output was left out, or something was tokenised anew).
    """
    ids: list[int] = []
    is_generated: list[bool] = []
    logprobs: list[float] = []
    for number, turn in enumerate(trajectory.turns):
        prompt, sampled, sampled_logprobs = _read_tokens(turn, place=f"{trajectory.task_id}, turn {number}")
        if list(prompt[: len(ids)]) != ids:
            raise UserError(
                f"{trajectory.task_id}, turn {number}: its prompt does not begin with the {len(ids)} tokens "
                "before it, so the episode is not one sequence; raise --limits.total-tokens, or leave it out"
            )
        read = len(prompt) - len(ids)
        ids = [*prompt, *sampled]
        is_generated += [False] * read + [True] * len(sampled)
        logprobs += [0.0] * read + list(sampled_logprobs)
    return TokenSequence(tuple(ids), tuple(is_generated), tuple(logprobs), trajectory.reward)


def build_batch(sequences: Sequence[TokenSequence]) -> Batch:
    """Pad to the longest. A sequence without a generated token is legal: it has nothing to train on.

    Raises:
        ValueError: a sequence begins with a generated token, which nothing predicts.
    """
    shape = (len(sequences), max((len(sequence.ids) for sequence in sequences), default=0))
    ids_BT = torch.zeros(shape, dtype=torch.int64)
    is_token_BT = torch.zeros(shape, dtype=torch.bool)
    is_generated_BT = torch.zeros(shape, dtype=torch.bool)
    rollout_logprobs_BT = torch.zeros(shape)
    rewards_BT = torch.zeros(shape)
    for row, sequence in enumerate(sequences):
        length = len(sequence.ids)
        if any(sequence.is_generated[:1]):
            raise ValueError(f"sequence {row} begins with a generated token: it needs a prompt")
        ids_BT[row, :length] = torch.tensor(sequence.ids, dtype=torch.int64)
        is_token_BT[row, :length] = True
        is_generated_BT[row, :length] = torch.tensor(sequence.is_generated, dtype=torch.bool)
        rollout_logprobs_BT[row, :length] = torch.tensor(sequence.logprobs)
        generated = [place for place, sampled in enumerate(sequence.is_generated) if sampled]
        if generated:
            rewards_BT[row, generated[-1]] = sequence.reward
    return Batch(ids_BT, is_token_BT, is_generated_BT, rollout_logprobs_BT, rewards_BT)


def _read_tokens(turn: Turn, *, place: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]:
    reply = turn.reply
    if reply.prompt_ids is None or reply.completion_ids is None or reply.completion_logprobs is None:
        raise UserError(
            f"{place}: the policy recorded no token ids and log-probabilities; sample with a local checkpoint"
        )
    if len(reply.completion_ids) != len(reply.completion_logprobs):
        raise UserError(
            f"{place}: {len(reply.completion_ids)} sampled tokens with {len(reply.completion_logprobs)} "
            "log-probabilities; the record is damaged, leave it out"
        )
    return reply.prompt_ids, reply.completion_ids, reply.completion_logprobs
