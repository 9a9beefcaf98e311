#include <cuda_agent/kernel.h>
#include <algorithm>
#include <cmath>
#include <vector>

static thread_local std::vector<double> scratch;

void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    if (int64_t(scratch.size()) < columns) scratch.resize(columns);
    const float* a = in + row * columns;
    const double top = *std::max_element(a, a + columns);
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += scratch[i] = std::exp(a[i] - top);
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = float(scratch[i] / sum);
  }
}
EXPORT_KERNEL(softmax, softmax);
