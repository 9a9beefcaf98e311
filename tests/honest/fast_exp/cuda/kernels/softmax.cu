// exp as ex2.approx of x log2(e): 2 ulp on this hardware. One warp a row.
#include <cuda_agent/kernel.h>
__global__ void softmax_kernel(const float* in, float* out, int columns, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* a = in + int64_t(row) * columns;
  float* b = out + int64_t(row) * columns;
  float top = -INFINITY, sum = 0;
  for (int i = lane; i < columns; i += 32) top = fmaxf(top, a[i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = lane; i < columns; i += 32) sum += b[i] = __expf(a[i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const float scale = __frcp_rn(sum);
  for (int i = lane; i < columns; i += 32) b[i] *= scale;
}
void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int columns = int(x.size(-1)), rows = int(x.numel() / columns);
  softmax_kernel<<<(rows + 7) / 8, 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), columns, rows);
}
EXPORT_KERNEL(softmax, softmax);
