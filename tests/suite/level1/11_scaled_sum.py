"""A scaled sum over many rows, of a size that no laptop holds: 1 TB of inputs."""

import torch

batch_size = 256 * 256
columns = 2048 * 2048


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.5 * x.sum(dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(batch_size, columns)]


def get_init_inputs() -> list[int]:
    return []
