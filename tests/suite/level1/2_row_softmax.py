"""Each row becomes a distribution."""

import torch

batch_size = 32
columns = 64


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(3.0 * x, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(batch_size, columns)]


def get_init_inputs() -> list[int]:
    return []
