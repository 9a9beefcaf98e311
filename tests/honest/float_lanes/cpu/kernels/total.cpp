#include <cuda_agent/kernel.h>
void total(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float sum[32] = {};
  const int64_t groups = x.numel() / 32;
  for (int64_t g = 0; g < groups; ++g)
    for (int k = 0; k < 32; ++k) sum[k] += in[32 * g + k];
  for (int64_t i = groups * 32; i < x.numel(); ++i) sum[0] += in[i];
  for (int half = 16; half; half /= 2)
    for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
  *y.data<float>() = sum[0];
}
EXPORT_KERNEL(total, total);
