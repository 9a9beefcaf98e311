// gelu(h + b).
#include <cuda_agent/kernel.h>
#include <math.h>

void bias_gelu(kernel::Tensor h, kernel::Tensor b, kernel::Tensor y) {
  const float *in = h.data<float>(), *bias = b.data<float>();
  float* out = y.data<float>();
  const int64_t count = h.numel(), columns = h.size(1);
#pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) {
    const float value = in[i] + bias[i % columns];
    out[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
  }
}
EXPORT_KERNEL(bias_gelu, bias_gelu);
