#include <cuda_agent/kernel.h>
#include <algorithm>
constexpr int kRows = 4, kColumns = 16, kDepth = 256;
static void multiply_tile(const float* a, const float* b, float* c, int64_t depth, int64_t lda, int64_t ld) {
  float sum[kRows][kColumns] = {};
  for (int64_t k = 0; k < depth; ++k)
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kColumns; ++j) sum[i][j] += a[i * lda + k] * b[k * ld + j];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) c[i * ld + j] += sum[i][j];
}
void multiply(kernel::Tensor a, kernel::Tensor b, kernel::Tensor y) {
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  kernel::check(rows % kRows == 0 && columns % kColumns == 0, "sizes must be multiples of the tile's");
  const float *left = a.data<const float>(), *right = b.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t i = 0; i < rows; i += kRows)
    for (int64_t k = 0; k < depth; k += kDepth)
      for (int64_t j = 0; j < columns; j += kColumns)
        multiply_tile(left + i * depth + k, right + k * columns + j, out + i * columns + j, std::min<int64_t>(kDepth, depth - k), depth, columns);
}
EXPORT_KERNEL(multiply, multiply);
