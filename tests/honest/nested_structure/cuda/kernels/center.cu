#include <cuda_agent/kernel.h>
__global__ void center_kernel(const float* in, float* out, float* mean, int columns) {
  const float* a = in + int64_t(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += a[i];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  sum /= columns;
  if (threadIdx.x == 0) mean[blockIdx.x] = sum;
  for (int i = threadIdx.x; i < columns; i += 32) out[int64_t(blockIdx.x) * columns + i] = a[i] - sum;
}
void center(kernel::Tensor x, kernel::Tensor y, kernel::Tensor mean) {
  center_kernel<<<unsigned(x.size(0)), 32, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), mean.data<float>(), int(x.size(1)));
}
EXPORT_KERNEL(center, center);
