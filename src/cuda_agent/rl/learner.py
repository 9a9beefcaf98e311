"""One network with its optimiser: losses go in, an update and what is to be known of it come out."""

from collections.abc import Iterable

import torch
from torch import Tensor
from transformers import PreTrainedModel

from cuda_agent.rl.config import OptimiserConfig
from cuda_agent.rl.losses import Mean


class Learner:
    """A network that learns."""

    def __init__(self, model: PreTrainedModel, config: OptimiserConfig) -> None:
        self.model = model
        """The network."""
        self.optimiser = torch.optim.AdamW(
            model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        """Its AdamW, with torch's betas (0.9, 0.999)."""
        self._config = config

    def learn(self, losses: Iterable[Tensor], *, step: int) -> dict[str, float]:
        """One update from the sum of `losses`, whose graphs are held one at a time.

        A gradient that is not finite changes nothing: `grad_norm` says so, and whoever watches stops.
        """
        rate = self._compute_rate(step)
        total = 0.0
        for loss in losses:
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._config.clip_norm)
        if torch.isfinite(norm):
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return {"loss": total, "grad_norm": norm.item(), "lr": rate}

    def _compute_rate(self, step: int) -> float:
        warmup = self._config.warmup_steps
        return self._config.learning_rate * min(1.0, (step + 1) / (warmup + 1))


def compute_weight(part_BT: Tensor, whole_BT: Tensor, *, mean: Mean) -> float:
    """What the mean loss of some rows counts in the mean over all: the share of trajectories, or of tokens.

    Both arguments are `is_generated_BT`; 0 where nothing was generated.
    """
    if mean is Mean.TOKEN:
        return part_BT.sum().item() / max(1, whole_BT.sum().item())
    return part_BT.any(dim=1).sum().item() / max(1, whole_BT.any(dim=1).sum().item())
