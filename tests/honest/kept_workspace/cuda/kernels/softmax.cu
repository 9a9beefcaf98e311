#include <cuda_agent/kernel.h>
__global__ void reduce_kernel(const float* in, float* top, int columns, int rows) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float m = -INFINITY, sum = 0;
  for (int i = lane; i < columns; i += 32) m = fmaxf(m, in[int64_t(row) * columns + i]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = lane; i < columns; i += 32) sum += expf(in[int64_t(row) * columns + i] - m);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) {
    top[row] = m;
    top[rows + row] = sum;
  }
}
__global__ void normalise_kernel(const float* in, const float* top, float* out, int columns, int rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= columns) return;
  const int64_t i = int64_t(row) * columns + column;
  out[i] = expf(in[i] - top[row]) / top[rows + row];
}
void reduce_rows(kernel::Tensor x, kernel::Tensor workspace) {
  const int rows = int(x.size(0)), columns = int(x.size(1));
  reduce_kernel<<<rows, 32, 0, kernel::stream(x)>>>(x.data<const float>(), workspace.data<float>(), columns, rows);
}
void normalise(kernel::Tensor x, kernel::Tensor workspace, kernel::Tensor y) {
  const int rows = int(x.size(0)), columns = int(x.size(1));
  normalise_kernel<<<dim3((columns + 255) / 256, rows), 256, 0, kernel::stream(x)>>>(
      x.data<const float>(), workspace.data<const float>(), y.data<float>(), columns, rows);
}
EXPORT_KERNEL(reduce_rows, reduce_rows);
EXPORT_KERNEL(normalise, normalise);
