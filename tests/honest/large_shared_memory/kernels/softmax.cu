#include <cuda_agent/kernel.h>
constexpr int kRows = 16;
__global__ void __launch_bounds__(32 * kRows) softmax_kernel(const float* __restrict__ in, float* __restrict__ out, int columns, int rows) {
  extern __shared__ float held[];
  const int row = blockIdx.x * kRows + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float* own = held + (threadIdx.x / 32) * columns;
  float top = -INFINITY, sum = 0;
  for (int i = lane; i < columns; i += 32) top = fmaxf(top, own[i] = in[int64_t(row) * columns + i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = lane; i < columns; i += 32) sum += own[i] = expf(own[i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = lane; i < columns; i += 32) out[int64_t(row) * columns + i] = own[i] / sum;
}
void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int columns = int(x.size(-1)), rows = int(x.numel() / columns);
  const int bytes = kRows * columns * int(sizeof(float));
  const cudaError_t error = cudaFuncSetAttribute(softmax_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel::check(error == cudaSuccess, "%d bytes of shared memory: %s", bytes, cudaGetErrorString(error));
  softmax_kernel<<<(rows + kRows - 1) / kRows, 32 * kRows, bytes, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), columns, rows);
}
EXPORT_KERNEL(softmax, softmax);
