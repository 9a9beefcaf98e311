"""No loop of its own: two copies by torch are the whole work."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
torch::Tensor join(torch::Tensor a, torch::Tensor b) {
  auto out = torch::empty({a.size(0) + b.size(0), a.size(1)}, a.options());
  out.narrow(0, 0, a.size(0)).copy_(a);
  out.narrow(0, a.size(0), b.size(0)).copy_(b);
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["join"])


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ops.join(a, b)
