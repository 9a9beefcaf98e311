#include <cuda_agent/kernel.h>
void scale_rows(kernel::Tensor d, kernel::Tensor b, kernel::Tensor y) {
  const int64_t rows = b.size(0), columns = b.size(1);
  const float *factor = d.data<const float>(), *in = b.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) out[i] = factor[row] * in[i];
}
EXPORT_KERNEL(scale_rows, scale_rows);
