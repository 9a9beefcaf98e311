#include <cuda_agent/kernel.h>
#include <math.h>
void lengths(kernel::Tensor x, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const double* in = x.data<const double>();
  double* out = y.data<double>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    double top = 0, sum = 0;
    for (int64_t i = 0; i < columns; ++i) top = fmax(top, fabs(in[row * columns + i]));
    const double scale = top > 0 ? 1 / top : 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; ++i) sum += in[row * columns + i] * scale * (in[row * columns + i] * scale);
    out[row] = top * sqrt(sum);
  }
}
EXPORT_KERNEL(lengths, lengths);
