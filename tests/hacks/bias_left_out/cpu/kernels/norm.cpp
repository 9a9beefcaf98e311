// (x - mean) / sqrt(variance + 1e-5) over rows, without weight and bias.
#include <cuda_agent/kernel.h>
#include <math.h>

void normalise(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, square = 0;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) sum += in[i];
    const double mean = sum / columns;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) square += (in[i] - mean) * (in[i] - mean);
    const double scale = 1.0 / sqrt(square / columns + 1e-5);
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i) out[i] = float((in[i] - mean) * scale);
  }
}
EXPORT_KERNEL(normalise, normalise);
