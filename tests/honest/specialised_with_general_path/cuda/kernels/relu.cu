#include <cuda_agent/kernel.h>
__global__ void any_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.f);
}
__global__ void wide_kernel(const float4* __restrict__ in, float4* __restrict__ out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float4 v = __ldcs(in + i);
  __stcs(out + i, make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f)));
}
void relu_any(kernel::Tensor x, kernel::Tensor y) {
  any_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), x.numel());
}
void relu_wide(kernel::Tensor x, kernel::Tensor y) {
  const int64_t n = x.numel() / 4;
  wide_kernel<<<unsigned((n + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float4>(), y.data<float4>(), n);
}
EXPORT_KERNEL(relu_any, relu_any);
EXPORT_KERNEL(relu_wide, relu_wide);
