#include <cuda_agent/kernel.h>
#include <math.h>
void norm(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y, double eps) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (int64_t i = 0; i < columns; ++i) {
      sum += a[i];
      squares += double(a[i]) * a[i];
    }
    const double mean = sum / double(columns);
    const float scale = float(1.0 / sqrt(squares / double(columns) - mean * mean + eps)), shift = float(-mean) * scale;
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = (a[i] * scale + shift) * w[i] + b[i];
  }
}
EXPORT_KERNEL(norm, norm);
