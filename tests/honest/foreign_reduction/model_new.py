"""A sum of squares in double, one partial sum a thread."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>

torch::Tensor mean_square(torch::Tensor x) {
  TORCH_CHECK(x.scalar_type() == torch::kFloat32, "float32 expected");
  const float* in = x.data_ptr<float>();
  const int64_t count = x.numel();
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int64_t i = 0; i < count; ++i) total += double(in[i]) * in[i];
  auto out = torch::empty({}, x.options());
  *out.data_ptr<float>() = float(total / count);
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["mean_square"])


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.mean_square(x)
