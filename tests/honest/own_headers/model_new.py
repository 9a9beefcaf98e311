"""ReLU; the machinery lies in four headers."""

import torch
from torch import Tensor, nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kernels.apply_relu(x, y := torch.empty_like(x))
        return y
