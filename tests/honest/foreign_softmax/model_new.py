"""Row by row, with accessors."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor softmax(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "two dimensions expected");
  auto out = torch::empty_like(x);
  auto in = x.accessor<float, 2>();
  auto result = out.accessor<float, 2>();
#pragma omp parallel for
  for (int64_t row = 0; row < x.size(0); ++row) {
    float largest = in[row][0], total = 0;
    for (int64_t i = 1; i < x.size(1); ++i) largest = std::max(largest, in[row][i]);
    for (int64_t i = 0; i < x.size(1); ++i) total += result[row][i] = std::exp(in[row][i] - largest);
    for (int64_t i = 0; i < x.size(1); ++i) result[row][i] /= total;
  }
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["softmax"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.softmax(x)
