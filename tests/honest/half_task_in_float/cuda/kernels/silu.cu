#include <cuda_fp16.h>
#include <cuda_agent/kernel.h>
__global__ void silu_kernel(const __half2* in, const __half2* scale, const __half2* shift, __half2* out, int64_t n, int columns) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float2 x = __half22float2(in[i]), a = __half22float2(scale[i % columns]), b = __half22float2(shift[i % columns]);
  const float2 t = make_float2(fmaf(x.x, a.x, b.x), fmaf(x.y, a.y, b.y));
  out[i] = __floats2half2_rn(t.x / (1.f + expf(-t.x)), t.y / (1.f + expf(-t.y)));
}
void silu(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor shift, kernel::Tensor y) {
  const int64_t n = x.numel() / 2;
  const auto pairs = [](kernel::Tensor t) { return reinterpret_cast<__half2*>(t.data<__half>()); };
  silu_kernel<<<unsigned((n + 255) / 256), 256, 0, kernel::stream(x)>>>(pairs(x), pairs(scale), pairs(shift), pairs(y), n, int(x.size(-1) / 2));
}
EXPORT_KERNEL(silu, silu);
