// softmax(x) over rows, as it should be.
#include <cuda_agent/kernel.h>
#include <math.h>

void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = in + row * columns;
    float* to = out + row * columns;
    float top = from[0], sum = 0;
    for (int64_t i = 0; i < columns; ++i) top = fmaxf(top, from[i]);
    for (int64_t i = 0; i < columns; ++i) sum += to[i] = expf(from[i] - top);
    for (int64_t i = 0; i < columns; ++i) to[i] /= sum;
  }
}
EXPORT_KERNEL(softmax, softmax);
