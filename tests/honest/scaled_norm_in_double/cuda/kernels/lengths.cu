#include <cuda_agent/kernel.h>
__global__ void length_kernel(const double* in, double* out, int columns) {
  const double* a = in + int64_t(blockIdx.x) * columns;
  double top = 0, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) top = fmax(top, fabs(a[i]));
  for (int d = 16; d; d /= 2) top = fmax(top, __shfl_xor_sync(~0u, top, d));
  const double scale = top > 0 ? 1 / top : 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += a[i] * scale * (a[i] * scale);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) out[blockIdx.x] = top * sqrt(sum);
}
void lengths(kernel::Tensor x, kernel::Tensor y) {
  length_kernel<<<unsigned(x.size(0)), 32, 0, kernel::stream(x)>>>(x.data<const double>(), y.data<double>(), int(x.size(1)));
}
EXPORT_KERNEL(lengths, lengths);
