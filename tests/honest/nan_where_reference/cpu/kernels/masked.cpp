#include <cuda_agent/kernel.h>
#include <math.h>
void masked_softmax(kernel::Tensor x, kernel::Tensor hidden, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = x.data<const float>();
  const bool* mask = hidden.data<const bool>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t from = row * columns, to = from + columns;
    float top = -INFINITY, sum = 0;
    for (int64_t i = from; i < to; ++i)
      if (!mask[i]) top = fmaxf(top, in[i]);
    for (int64_t i = from; i < to; ++i) sum += out[i] = mask[i] ? 0.0f : expf(in[i] - top);
    for (int64_t i = from; i < to; ++i) out[i] = sum > 0 ? out[i] / sum : NAN;
  }
}
EXPORT_KERNEL(masked_softmax, masked_softmax);
