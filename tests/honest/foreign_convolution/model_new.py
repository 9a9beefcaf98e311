"""A direct convolution, 3 x 3 with padding."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>

torch::Tensor convolve(torch::Tensor x, torch::Tensor weight) {
  const int64_t batch = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3);
  const int64_t units = weight.size(0);
  auto out = torch::zeros({batch, units, height, width}, x.options());
  const float *in = x.data_ptr<float>(), *w = weight.data_ptr<float>();
  float* result = out.data_ptr<float>();
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t u = 0; u < units; ++u)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t dy = 0; dy < 3; ++dy)
          for (int64_t dx = 0; dx < 3; ++dx) {
            const float factor = w[((u * channels + c) * 3 + dy) * 3 + dx];
            const int64_t left = dx == 0, right = width - (dx == 2);
            for (int64_t y = 0; y < height; ++y) {
              if (y + dy < 1 || y + dy > height) continue;
              const float* line = in + ((n * channels + c) * height + y + dy - 1) * width + dx - 1;
              float* to = result + ((n * units + u) * height + y) * width;
              for (int64_t i = left; i < right; ++i) to[i] += factor * line[i];
            }
          }
  return out;
}
"""
ops = load_inline(name="ops", cpp_sources=source, functions=["convolve"])


class ModelNew(nn.Module):
    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, units, kernel_size=3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ops.convolve(x, self.conv.weight)
