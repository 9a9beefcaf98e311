#include <cuda_agent/kernel.h>
#include <math.h>
void reduce_rows(kernel::Tensor x, kernel::Tensor workspace) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = x.data<const float>();
  float* top = workspace.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float m = -INFINITY, sum = 0;
    for (int64_t i = 0; i < columns; ++i) m = fmaxf(m, in[row * columns + i]);
    for (int64_t i = 0; i < columns; ++i) sum += expf(in[row * columns + i] - m);
    top[row] = m;
    top[rows + row] = sum;
  }
}
void normalise(kernel::Tensor x, kernel::Tensor workspace, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = x.data<const float>();
  const float* top = workspace.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = expf(in[row * columns + i] - top[row]) / top[rows + row];
}
EXPORT_KERNEL(reduce_rows, reduce_rows);
EXPORT_KERNEL(normalise, normalise);
