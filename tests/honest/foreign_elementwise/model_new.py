"""Dispatched by dtype, in parallel by torch's own loop."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <ATen/Parallel.h>

torch::Tensor relu(const torch::Tensor& x) {
  auto input = x.contiguous();
  auto out = torch::empty_like(input);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu", [&] {
    const scalar_t* in = input.data_ptr<scalar_t>();
    scalar_t* result = out.data_ptr<scalar_t>();
    at::parallel_for(0, x.numel(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) result[i] = in[i] > scalar_t(0) ? in[i] : scalar_t(0);
    });
  });
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.relu(x)
