#include <cuda_agent/kernel.h>
void linear(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y) {
  const int64_t rows = x.size(0), depth = x.size(1), units = y.size(1);
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for collapse(2)
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t u = 0; u < units; ++u) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < depth; ++k) sum += in[row * depth + k] * w[u * depth + k];
      out[row * units + u] = sum + b[u];
    }
}
EXPORT_KERNEL(linear, linear);
