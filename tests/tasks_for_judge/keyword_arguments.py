"""A constructor whose arguments are given by name."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int, *, slope: float = 0.1, bias: bool = True) -> None:
        super().__init__()
        self.slope = slope
        self.bias = nn.Parameter(torch.randn(columns)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x if self.bias is None else x + self.bias
        return nn.functional.leaky_relu(x, self.slope)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024)]


def get_init_inputs() -> dict[str, object]:
    return {"columns": 1024, "slope": 0.2}
