// gelu(h + b).
#include <cuda_agent/kernel.h>

__global__ void bias_gelu_kernel(const float* h, const float* b, float* y, int64_t count, int64_t columns) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const float value = h[i] + b[i % columns];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}

void bias_gelu(kernel::Tensor h, kernel::Tensor b, kernel::Tensor y) {
  const int64_t count = h.numel();
  bias_gelu_kernel<<<unsigned((count + 255) / 256), 256, 0, kernel::stream(h)>>>(
      h.data<float>(), b.data<float>(), y.data<float>(), count, h.size(1));
}
EXPORT_KERNEL(bias_gelu, bias_gelu);
