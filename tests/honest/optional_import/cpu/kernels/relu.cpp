#include <cuda_agent/kernel.h>
void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for simd
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
EXPORT_KERNEL(relu, relu);
