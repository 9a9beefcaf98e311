#include <cuda_agent/kernel.h>
__global__ void shift_kernel(const float* in, float* out, float* tops, int columns) {
  const float* a = in + int64_t(blockIdx.x) * columns;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 32) top = fmaxf(top, a[i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  if (threadIdx.x == 0) tops[blockIdx.x] = top;
  for (int i = threadIdx.x; i < columns; i += 32) out[int64_t(blockIdx.x) * columns + i] = a[i] - top;
}
void shift(kernel::Tensor x, kernel::Tensor shifted, kernel::Tensor top) {
  const int columns = int(x.size(-1));
  shift_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(x.data<const float>(), shifted.data<float>(), top.data<float>(), columns);
}
EXPORT_KERNEL(shift, shift);
