#include <cuda_agent/kernel.h>
void relu_(kernel::Tensor y) {
  float* at = y.data<float>();
#pragma omp parallel for simd
  for (int64_t i = 0; i < y.numel(); ++i) at[i] = at[i] > 0 ? at[i] : 0;
}
EXPORT_KERNEL(relu_, relu_);
