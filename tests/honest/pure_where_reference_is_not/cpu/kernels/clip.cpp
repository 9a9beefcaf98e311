#include <cuda_agent/kernel.h>
#include <algorithm>
void clip(const kernel::Tensor& x, const kernel::Tensor& y, float low, float high) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = std::min(std::max(in[i], low), high);
}
EXPORT_KERNEL(clip, clip);
