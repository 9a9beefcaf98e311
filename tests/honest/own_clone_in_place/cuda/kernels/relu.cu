#include <cuda_agent/kernel.h>
__global__ void relu_kernel(float* at, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) at[i] = fmaxf(at[i], 0.f);
}
void relu_(kernel::Tensor y) {
  relu_kernel<<<unsigned((y.numel() + 255) / 256), 256, 0, kernel::stream(y)>>>(y.data<float>(), y.numel());
}
EXPORT_KERNEL(relu_, relu_);
