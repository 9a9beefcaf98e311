#include <cuda_agent/kernel.h>
__global__ void sigmoid_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = 1.f / (1.f + expf(-in[i]));
}
void sigmoid(kernel::Tensor x, kernel::Tensor y) {
  sigmoid_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), x.numel());
}
EXPORT_KERNEL(sigmoid, sigmoid);
