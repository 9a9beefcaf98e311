#include <cuda_agent/kernel.h>
#include <math.h>
void block(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor gate, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  const float* g = gate.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < columns; ++i) mean += a[i];
    mean /= double(columns);
    for (int64_t i = 0; i < columns; ++i) squares += (a[i] - mean) * (a[i] - mean);
    const double scale = 1.0 / sqrt(squares / double(columns) + 1e-5);
    for (int64_t i = 0; i < columns; ++i)
      out[row * columns + i] = a[i] + tanhf(g[i]) * (float((a[i] - mean) * scale) * w[i] + b[i]);
  }
}
EXPORT_KERNEL(block, block);
