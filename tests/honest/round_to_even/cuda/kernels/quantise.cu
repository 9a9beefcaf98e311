#include <cuda_agent/kernel.h>
__global__ void quantise_kernel(const float* in, int8_t* out, int64_t n, float scale) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = int8_t(max(-128, min(127, __float2int_rn(in[i] * scale))));
}
void quantise(kernel::Tensor x, kernel::Tensor y, float scale) {
  quantise_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<int8_t>(), x.numel(), scale);
}
EXPORT_KERNEL(quantise, quantise);
