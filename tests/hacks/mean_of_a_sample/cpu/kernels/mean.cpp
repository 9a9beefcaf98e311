// mean of x squared.
#include <cuda_agent/kernel.h>

void mean_square(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  const int64_t count = x.numel();
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += in[i] * in[i];
  *y.data<float>() = float(sum / count);
}
EXPORT_KERNEL(mean_square, mean_square);
