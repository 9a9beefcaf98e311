"""Drawing tokens from a model's scores, with the probability that each was drawn with."""

from collections.abc import Sequence

import torch


def compute_logprobs(scores: torch.Tensor, *, temperature: float, top_p: float) -> torch.Tensor:
    """Natural-log probabilities that tokens are drawn with, in float32; `-inf` for those that are not.

    Both have a row for each reply and a column for each token.

    Temperature 0 leaves the likeliest token alone. `top_p` below 1 leaves the fewest likeliest tokens whose
    probabilities add up to it (nucleus sampling, Holtzman et al. 2020).
    """
    scores = scores.float()
    if temperature == 0.0:
        likeliest = scores.argmax(dim=-1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter_(-1, likeliest, 0.0)
    logprobs = torch.log_softmax(scores / temperature, dim=-1)
    if top_p < 1.0:
        ordered, order = logprobs.sort(dim=-1, descending=True)
        before = ordered.exp().cumsum(dim=-1) - ordered.exp()
        dropped = torch.zeros_like(before, dtype=torch.bool).scatter_(-1, order, before >= top_p)
        logprobs = torch.log_softmax(logprobs.masked_fill(dropped, -torch.inf), dim=-1)
    return logprobs


class TokenSampler:
    """Chooses each row's next token in a generation loop, and keeps the log-probability of each choice.

    A logits processor: scores go in, and come out so that only the chosen token can be taken. Each row has
    random numbers of its own, so that they do not depend on which others share its batch.
    """

    def __init__(
        self, seeds: Sequence[int], *, temperature: float, top_p: float, device: torch.device
    ) -> None:
        """A seed for each row."""
        self._temperature = temperature
        self._top_p = top_p
        self._generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self._chosen: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores that leave each row one token; a column for each token, as in those that go in."""
        logprobs = compute_logprobs(scores, temperature=self._temperature, top_p=self._top_p)
        rows = [
            torch.multinomial(row.exp(), 1, generator=generator)
            for row, generator in zip(logprobs, self._generators, strict=True)
        ]
        drawn = torch.stack(rows)
        self._chosen.append(logprobs.gather(-1, drawn)[:, 0])
        forced: torch.Tensor = torch.full_like(scores, -torch.inf).scatter_(-1, drawn, 0.0)
        return forced

    @property
    def logprobs(self) -> list[list[float]]:
        """Of each row's chosen tokens, in order, also of those after its end."""
        return torch.stack(self._chosen, dim=1).tolist() if self._chosen else []
