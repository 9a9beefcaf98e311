"""Binary focal loss over a dense detector's class scores (Lin et al., 2017)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

# About 10 to 60 ms on a few CPU cores, 1 to 5 ms on a data-centre GPU.
IMAGES = 64 if torch.cuda.is_available() else 4
ANCHORS = 16384
CLASSES = 80


class Model(nn.Module):
    """Cross-entropy weighted by `alpha_t * (1 - p_t) ** gamma`, averaged over all scores."""

    def __init__(self, alpha: float, gamma: float) -> None:
        """`alpha` balances positives; `gamma` takes weight from easy scores."""
        super().__init__()
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The mean loss; logits and 0/1 targets have the shape (images, anchors, classes)."""
        p = torch.sigmoid(logits)
        cross_entropy = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        p_t = p * targets + (1 - p) * (1 - targets)
        alpha_t = self.alpha * targets + (1 - self.alpha) * (1 - targets)
        loss = alpha_t * (1 - p_t) ** self.gamma * cross_entropy
        return loss.mean()


def get_inputs() -> list[torch.Tensor]:
    """Scores that lean towards background, and sparse positives."""
    shape = (IMAGES, ANCHORS, CLASSES)
    logits = 2.0 * torch.randn(shape) - 2.0
    targets = (torch.rand(shape) < 0.05).float()
    return [logits, targets]


def get_init_inputs() -> list[float]:
    """Constructor arguments of `Model`."""
    return [0.25, 2.0]
