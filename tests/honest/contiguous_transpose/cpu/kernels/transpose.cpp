#include <cuda_agent/kernel.h>
#include <algorithm>
void transpose(kernel::Tensor x, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1), kTile = 16;
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < rows; i += kTile)
    for (int64_t j = 0; j < columns; j += kTile)
      for (int64_t b = j; b < std::min(j + kTile, columns); ++b)
        for (int64_t a = i; a < std::min(i + kTile, rows); ++a) out[b * rows + a] = 0.5f * in[a * columns + b];
}
EXPORT_KERNEL(transpose, transpose);
