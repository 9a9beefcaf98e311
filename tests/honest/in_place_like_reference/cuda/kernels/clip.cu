#include <cuda_agent/kernel.h>
__global__ void clip_kernel(float* at, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) at[i] = fminf(fmaxf(at[i], -1.f), 1.f);
}
void clip_(kernel::Tensor x) {
  clip_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<float>(), x.numel());
}
EXPORT_KERNEL(clip_, clip_);
