"""Mean of log(cosh(x)) over everything: a robust loss of residuals."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(torch.cosh(x)).mean()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(16, 512, 1024)]


def get_init_inputs() -> list[int]:
    return []
