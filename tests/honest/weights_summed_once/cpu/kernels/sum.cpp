#include <cuda_agent/kernel.h>
void sum_units(kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor summed) {
  const int64_t units = weight.size(0), columns = weight.size(1);
  const float *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = summed.data<float>();
  for (int64_t c = 0; c <= columns; ++c) {
    double sum = 0;
    for (int64_t u = 0; u < units; ++u) sum += c < columns ? w[u * columns + c] : b[u];
    out[c] = float(sum);
  }
}
void apply(kernel::Tensor x, kernel::Tensor summed, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float *in = x.data<const float>(), *w = summed.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = w[columns];
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c) sum += in[row * columns + c] * w[c];
    out[row] = sum;
  }
}
EXPORT_KERNEL(sum_units, sum_units);
EXPORT_KERNEL(apply, apply);
