#include <cuda_agent/kernel.h>
#include <math.h>
void linear_gelu(kernel::Tensor x, kernel::Tensor packed, kernel::Tensor y) {
  const int64_t rows = x.size(0), depth = x.size(1), units = y.size(1);
  const float *in = x.data<const float>(), *w = packed.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float* sum = out + row * units;
    for (int64_t u = 0; u < units; ++u) sum[u] = w[depth * units + u];
    for (int64_t k = depth - 1; k >= 0; --k)
      for (int64_t u = 0; u < units; ++u) sum[u] += in[row * depth + k] * w[k * units + u];
    for (int64_t u = 0; u < units; ++u) sum[u] = 0.5f * sum[u] * erfcf(sum[u] * -0.70710678f);
  }
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
