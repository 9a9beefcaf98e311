#include <cuda_agent/kernel.h>
void total(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  constexpr int kLanes = 16;
  float sum[kLanes] = {}, lost[kLanes] = {};
  for (int64_t i = 0; i + kLanes <= x.numel(); i += kLanes)
    for (int k = 0; k < kLanes; ++k) {
      const float term = in[i + k] - lost[k], next = sum[k] + term;
      lost[k] = (next - sum[k]) - term;
      sum[k] = next;
    }
  double all = 0;
  for (int k = 0; k < kLanes; ++k) all += double(sum[k]) - lost[k];
  for (int64_t i = x.numel() / kLanes * kLanes; i < x.numel(); ++i) all += in[i];
  *y.data<float>() = float(all);
}
EXPORT_KERNEL(total, total);
