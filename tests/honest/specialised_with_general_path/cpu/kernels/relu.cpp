#include <cuda_agent/kernel.h>
void relu_any(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
void relu_wide(kernel::Tensor x, kernel::Tensor y) {
  const float* __restrict in = x.data<const float>();
  float* __restrict out = y.data<float>();
  const int64_t groups = x.numel() / 8;
#pragma omp parallel for
  for (int64_t g = 0; g < groups; ++g)
    for (int k = 0; k < 8; ++k) out[8 * g + k] = in[8 * g + k] > 0 ? in[8 * g + k] : 0;
}
EXPORT_KERNEL(relu_any, relu_any);
EXPORT_KERNEL(relu_wide, relu_wide);
