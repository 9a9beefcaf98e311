"""Layer normalisation with one parameter of two rows instead of two parameters."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.affine = nn.Parameter(torch.zeros(2, columns))

    def load_state_dict(self, state: dict, strict: bool = True, assign: bool = False) -> None:
        """The reference has norm.weight and norm.bias; both go into one tensor."""
        self.affine.data[0].copy_(state["norm.weight"])
        self.affine.data[1].copy_(state["norm.bias"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.norm(x, self.affine, y)
        return y
