#include <cuda_agent/kernel.h>
#include <math.h>
void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    float* b = out + row * columns;
    float top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < columns; ++i) {
      if (a[i] > top) {
        sum *= expf(top - a[i]);
        top = a[i];
      }
      sum += expf(a[i] - top);
    }
    for (int64_t i = 0; i < columns; ++i) b[i] = expf(a[i] - top) / sum;
  }
}
EXPORT_KERNEL(softmax, softmax);
