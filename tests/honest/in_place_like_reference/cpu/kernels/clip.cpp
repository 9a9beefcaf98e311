#include <cuda_agent/kernel.h>
#include <algorithm>
void clip_(kernel::Tensor x) {
  float* at = x.data<float>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) at[i] = std::clamp(at[i], -1.0f, 1.0f);
}
EXPORT_KERNEL(clip_, clip_);
