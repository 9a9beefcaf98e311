#include <cuda_bf16.h>
#include <cuda_agent/kernel.h>
__global__ void norm_kernel(const __nv_bfloat16* in, const __nv_bfloat16* w, __nv_bfloat16* out, int columns) {
  const int64_t from = int64_t(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += __bfloat162float(in[from + i]) * __bfloat162float(in[from + i]);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const float scale = rsqrtf(sum / columns + 1e-6f);
  for (int i = threadIdx.x; i < columns; i += 32)
    out[from + i] = __float2bfloat16(__bfloat162float(in[from + i]) * scale * __bfloat162float(w[i]));
}
void norm(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor y) {
  const int columns = int(x.size(-1));
  norm_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(
      x.data<const __nv_bfloat16>(), weight.data<const __nv_bfloat16>(), y.data<__nv_bfloat16>(), columns);
}
EXPORT_KERNEL(norm, norm);
