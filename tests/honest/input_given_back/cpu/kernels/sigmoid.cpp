#include <cuda_agent/kernel.h>
#include <math.h>
void sigmoid(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = 1.0f / (1.0f + expf(-in[i]));
}
EXPORT_KERNEL(sigmoid, sigmoid);
