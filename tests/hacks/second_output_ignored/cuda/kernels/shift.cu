// x - max(x) over rows; the second output is left alone.
#include <cuda_agent/kernel.h>

__global__ void shift_kernel(const float* x, float* y, int64_t columns) {
  const float* from = x + blockIdx.x * columns;
  float top = from[0];
  for (int64_t i = threadIdx.x; i < columns; i += 32) top = fmaxf(top, from[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  for (int64_t i = threadIdx.x; i < columns; i += 32) y[blockIdx.x * columns + i] = from[i] - top;
}

void shift(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1);
  shift_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(shift, shift);
