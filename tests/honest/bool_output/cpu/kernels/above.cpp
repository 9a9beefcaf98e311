#include <cuda_agent/kernel.h>
void above(kernel::Tensor a, kernel::Tensor b, kernel::Tensor y) {
  const float *left = a.data<const float>(), *right = b.data<const float>();
  uint8_t* out = y.data<uint8_t>();
#pragma omp parallel for simd
  for (int64_t i = 0; i < y.numel(); ++i) out[i] = left[i] > right[i];
}
EXPORT_KERNEL(above, above);
