#include <cuda_agent/kernel.h>
__global__ void clip_kernel(const float* in, float* out, int64_t n, float low, float high) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = fminf(fmaxf(in[i], low), high);
}
void clip(const kernel::Tensor& x, const kernel::Tensor& y, float low, float high) {
  clip_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), x.numel(), low, high);
}
EXPORT_KERNEL(clip, clip);
