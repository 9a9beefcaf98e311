"""Generating for many conversations at once, token by token, each at its own pace.

Every conversation has a slot, whose keys and values stay from turn to turn: what was read or said is never
computed again. A pass continues all slots that are being answered; who has finished leaves room for others
without stopping them. Each draws with random numbers of its own, so that what it says does not depend on
who else is there. Axes as in `cache`; K is the vocabulary.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.local import Asked, Sampled
from cuda_agent.llm.sampler import compute_logprobs
from cuda_agent.rl.cache import SlotCache
from cuda_agent.rl.cuda_graphs import CudaGraphs

CHUNK = 512
"""Tokens of a conversation that are read in one pass."""

BLOCK = 128
"""Passes read so many positions, or a multiple of it."""


@dataclass
class _Slot:
    """One conversation."""

    kept: list[int] = field(default_factory=list)
    """Tokens whose keys and values are in the cache."""
    unread: list[int] = field(default_factory=list)
    """Tokens that come next; at least one while it is being answered."""
    ids: list[int] = field(default_factory=list)
    """What was sampled of this reply."""
    logprobs: list[float] = field(default_factory=list)
    """Log-probability of each."""
    most_tokens: int = 0
    """The cap of this reply; 0 while nobody asks."""
    numbers: random.Random = field(default_factory=random.Random)
    """What it draws with."""


class Decoder:
    """Continues conversations with a causal language model of transformers'. Not for several threads."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        *,
        end_ids: Sequence[int],
        slots: int,
        window_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
    ) -> None:
        """Room for so many conversations of so many tokens; a token of `end_ids` ends a reply."""
        self.window_tokens = window_tokens
        """Tokens that a conversation and its replies may have."""
        self._model = model
        self._end_ids = frozenset(end_ids)
        self._temperature, self._top_p = temperature, top_p
        self._slots = [_Slot() for _ in range(slots)]
        self._cache = SlotCache(model, slots=slots, window_tokens=window_tokens)
        self._next_S = torch.zeros(slots, dtype=torch.int64, device=model.device)
        self._positions_S = torch.full_like(self._next_S, self._cache.nowhere)
        self._draws_S = torch.zeros(slots, dtype=torch.float64, device=model.device)
        self._graphs = CudaGraphs(self._decode) if model.device.type == "cuda" else None
        self.tokens_read = 0
        """Tokens read so far that were not sampled here, and so how little is read twice."""

    def begin(self, slot: int, asked: Asked) -> None:
        """Have a slot answer: what it has read of the prompt before is not read again."""
        place = self._slots[slot]
        assert not place.most_tokens, "a slot answers one request at a time"
        prompt = list(asked.prompt_ids)
        assert len(prompt) + asked.most_tokens <= self.window_tokens + 1, "the prompt leaves no room"
        same = 0
        for old, new in zip(place.kept, prompt[:-1], strict=False):
            if old != new:
                break
            same += 1
        self._slots[slot] = _Slot(
            kept=prompt[:same],
            unread=prompt[same:],
            most_tokens=asked.most_tokens,
            numbers=random.Random(asked.seed),
        )

    def give_up(self, slot: int) -> None:
        """Forget a conversation, in the middle of a reply too."""
        self._slots[slot] = _Slot()

    def step(self) -> dict[int, Sampled]:
        """Sample a token for every slot that is being answered; the replies that end with it, by slot.

        Raises:
            InfrastructureError: the device has no memory left.
        """
        try:
            with torch.inference_mode():
                while reading := [n for n, slot in enumerate(self._slots) if len(slot.unread) > 1]:
                    self._read(reading)
                return dict(self._sample())
        except torch.OutOfMemoryError as error:
            raise InfrastructureError(
                f"the device has no memory for {len(self._slots)} conversations of {self.window_tokens} "
                "tokens: hold fewer episodes at once, or shorter ones"
            ) from error

    def _read(self, rows: list[int]) -> None:
        """Read a chunk of what these slots have not read, but for their last token."""
        chunks = [self._slots[row].unread[:-1][:CHUNK] for row in rows]
        longest = max(map(len, chunks))
        device = self._next_S.device
        starts = [len(self._slots[row].kept) for row in rows]
        padded = [[*chunk, *[0] * (longest - len(chunk))] for chunk in chunks]
        places = [
            [*range(start, start + len(chunk)), *[self._cache.nowhere] * (longest - len(chunk))]
            for start, chunk in zip(starts, chunks, strict=True)
        ]
        positions_RN = torch.tensor(places, device=device)
        most = max(start + len(chunk) for start, chunk in zip(starts, chunks, strict=True))
        self._cache.aim(positions_RN, width=most, rows_R=torch.tensor(rows, device=device))
        self._forward(torch.tensor(padded, device=device), positions_RN)
        for row, chunk in zip(rows, chunks, strict=True):
            slot = self._slots[row]
            slot.kept += chunk
            slot.unread = slot.unread[len(chunk) :]
            self.tokens_read += len(chunk)

    def _sample(self) -> Iterator[tuple[int, Sampled]]:
        """Read the last token of every slot that is being answered, and draw the next one."""
        answering = [row for row, slot in enumerate(self._slots) if slot.most_tokens]
        if not answering:
            return
        ids, positions = [0] * len(self._slots), [self._cache.nowhere] * len(self._slots)
        draws = [0.0] * len(self._slots)
        for row in answering:
            slot = self._slots[row]
            ids[row], positions[row], draws[row] = slot.unread[0], len(slot.kept), slot.numbers.random()
        self._next_S.copy_(torch.tensor(ids))
        self._positions_S.copy_(torch.tensor(positions))
        self._draws_S.copy_(torch.tensor(draws, dtype=torch.float64))
        needed = 1 + max(positions[row] for row in answering)
        width = min(-(-needed // BLOCK) * BLOCK, self.window_tokens)
        compute = self._graphs.replay if self._graphs else self._decode
        drawn_S, logprobs_S = compute(width)
        drawn, logprobs = drawn_S.tolist(), logprobs_S.tolist()
        for row in answering:
            sampled = self._take(self._slots[row], drawn[row], logprob=logprobs[row])
            if sampled is not None:
                yield row, sampled

    def _take(self, slot: _Slot, token: int, *, logprob: float) -> Sampled | None:
        """Note what a slot drew; its reply, if that ends it."""
        self.tokens_read += not slot.ids
        slot.kept += slot.unread
        slot.unread = [token]
        slot.ids.append(token)
        slot.logprobs.append(logprob)
        if token not in self._end_ids and len(slot.ids) < slot.most_tokens:
            return None
        slot.unread, slot.most_tokens = [], 0
        return Sampled(tuple(slot.ids), tuple(slot.logprobs))

    def _decode(self, width: int) -> tuple[Tensor, Tensor]:
        """The next token of every slot and its log-probability: the inverse of the distribution function."""
        positions_S1 = self._positions_S[:, None]
        self._cache.aim(positions_S1, width=width)
        logits_SK = self._forward(self._next_S[:, None], positions_S1)
        logprobs_SK = compute_logprobs(logits_SK, temperature=self._temperature, top_p=self._top_p)
        below_SK = logprobs_SK.double().exp().cumsum(dim=-1)
        aimed_S1 = self._draws_S[:, None] * below_SK[:, -1:]
        drawn_S = (below_SK <= aimed_S1).sum(dim=-1)
        return drawn_S, logprobs_SK.gather(-1, drawn_S[:, None])[:, 0]

    def _forward(self, ids_RN: Tensor, positions_RN: Tensor) -> Tensor:
        """Scores of what comes after each row's last token, (R, K)."""
        logits_R1K: Tensor = self._model(
            input_ids=ids_RN,
            attention_mask=self._cache.build_mask(positions_RN, dtype=self._model.dtype),
            position_ids=positions_RN,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        return logits_R1K[:, 0]
