"""Nothing but an operator of torch, called from C++."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
torch::Tensor relu(torch::Tensor x) { return torch::relu(x); }
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.relu(x)
