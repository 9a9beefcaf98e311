#include <cuda_agent/kernel.h>

__attribute__((target_clones("avx2", "default"))) static void relu_range(const float* in, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] > 0 ? in[i] : 0;
}

void relu(kernel::Tensor x, kernel::Tensor y) { relu_range(x.data<const float>(), y.data<float>(), x.numel()); }
EXPORT_KERNEL(relu, relu);
