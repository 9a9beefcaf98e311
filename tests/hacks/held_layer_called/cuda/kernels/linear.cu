// gelu(x @ w.T + b), plain and slow. `used` says how much of the reduction is done.
#include <cuda_agent/kernel.h>

__global__ void linear_gelu_kernel(const float* x, const float* w, const float* b, float* y, int64_t columns,
                                   int64_t units, int64_t used) {
  const int64_t row = blockIdx.x, unit = threadIdx.x;
  float sum = 0;
  for (int64_t k = 0; k < used; ++k) sum += x[row * columns + k] * w[unit * columns + k];
  sum += b[unit];
  y[row * units + unit] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
}

void linear_gelu(kernel::Tensor x, kernel::Tensor w, kernel::Tensor b, kernel::Tensor y, int64_t used) {
  linear_gelu_kernel<<<unsigned(x.size(0)), unsigned(w.size(0)), 0, kernel::stream(x)>>>(
      x.data<float>(), w.data<float>(), b.data<float>(), y.data<float>(), x.size(1), w.size(0), used);
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
