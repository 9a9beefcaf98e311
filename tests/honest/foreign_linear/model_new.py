"""A product with OpenMP, and gelu on its way out."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cmath>
#include <vector>

torch::Tensor linear_gelu(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
  TORCH_CHECK(x.size(1) == weight.size(1), "x has ", x.size(1), " columns, weight ", weight.size(1));
  const int64_t rows = x.size(0), inner = x.size(1), units = weight.size(0);
  auto out = torch::empty({rows, units}, x.options());
  const float *in = x.data_ptr<float>(), *w = weight.data_ptr<float>(), *b = bias.data_ptr<float>();
  float* result = out.data_ptr<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t unit = 0; unit < units; ++unit) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < inner; ++k) sum += in[row * inner + k] * w[unit * inner + k];
      sum += b[unit];
      result[row * units + unit] = 0.5f * sum * (1 + std::erf(sum * 0.70710678f));
    }
  }
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["linear_gelu"])


class ModelNew(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.linear_gelu(x, self.linear.weight, self.linear.bias)
