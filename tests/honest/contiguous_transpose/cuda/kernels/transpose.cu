#include <cuda_agent/kernel.h>
__global__ void transpose_kernel(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  const int i = blockIdx.y * 32, j = blockIdx.x * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (i + k < rows && j + int(threadIdx.x) < columns) tile[k][threadIdx.x] = in[(i + k) * columns + j + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    if (j + k < columns && i + int(threadIdx.x) < rows) out[(j + k) * rows + i + threadIdx.x] = 0.5f * tile[threadIdx.x][k];
}
void transpose(kernel::Tensor x, kernel::Tensor y) {
  const int rows = int(x.size(0)), columns = int(x.size(1));
  transpose_kernel<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, kernel::stream(x)>>>(
      x.data<const float>(), y.data<float>(), rows, columns);
}
EXPORT_KERNEL(transpose, transpose);
