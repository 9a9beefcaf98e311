"""A bias, then GELU."""

import torch

batch_size = 32
features = 2048


class Model(torch.nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(0.1 * torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x + self.bias)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, features)]


def get_init_inputs() -> list[int]:
    return [features]
