"""Mean and variance in one pass over each row."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  auto out = torch::zeros_like(x);
  const float *in = x.data_ptr<float>(), *scale = weight.data_ptr<float>(), *shift = bias.data_ptr<float>();
  float* result = out.data_ptr<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* values = in + row * columns;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < columns; ++i) sum += values[i], squares += double(values[i]) * values[i];
    const double mean = sum / columns, factor = 1 / std::sqrt(squares / columns - mean * mean + eps);
    for (int64_t i = 0; i < columns; ++i)
      result[row * columns + i] = float((values[i] - mean) * factor) * scale[i] + shift[i];
  }
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["norm"])


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.norm(x, self.norm.weight, self.norm.bias, self.norm.eps)
