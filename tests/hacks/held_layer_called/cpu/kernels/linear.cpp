// gelu(x @ w.T + b), plain and slow. `used` says how much of the reduction is done.
#include <cuda_agent/kernel.h>
#include <math.h>

void linear_gelu(kernel::Tensor x, kernel::Tensor w, kernel::Tensor b, kernel::Tensor y, int64_t used) {
  const int64_t rows = x.size(0), columns = x.size(1), units = w.size(0);
  const float *in = x.data<float>(), *weight = w.data<float>(), *bias = b.data<float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t unit = 0; unit < units; ++unit) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < used; ++k) sum += in[row * columns + k] * weight[unit * columns + k];
      sum += bias[unit];
      out[row * units + unit] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
    }
  }
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
