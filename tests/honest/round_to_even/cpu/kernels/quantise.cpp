#include <cuda_agent/kernel.h>
#include <math.h>
void quantise(kernel::Tensor x, kernel::Tensor y, float scale) {
  const float* in = x.data<const float>();
  int8_t* out = y.data<int8_t>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = int8_t(fminf(fmaxf(nearbyintf(in[i] * scale), -128.0f), 127.0f));
}
EXPORT_KERNEL(quantise, quantise);
