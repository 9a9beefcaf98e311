#include <cuda_agent/kernel.h>
__global__ void leaky_kernel(const float* in, const float* b, float* out, int64_t n, int columns, float slope) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float t = in[i] + b[i % columns];
  out[i] = t > 0 ? t : t * slope;
}
void leaky(kernel::Tensor x, kernel::Tensor bias, kernel::Tensor y, float slope) {
  leaky_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(
      x.data<const float>(), bias.data<const float>(), y.data<float>(), x.numel(), int(x.size(-1)), slope);
}
EXPORT_KERNEL(leaky, leaky);
