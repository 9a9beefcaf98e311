#include <cuda_agent/kernel.h>
void center(kernel::Tensor x, kernel::Tensor y, kernel::Tensor mean) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = x.data<const float>();
  float *out = y.data<float>(), *m = mean.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; ++i) sum += in[row * columns + i];
    m[row] = sum / float(columns);
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = in[row * columns + i] - m[row];
  }
}
EXPORT_KERNEL(center, center);
