#include <cuda_agent/kernel.h>
__global__ void scale_kernel(const float* d, const float* b, float* out, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < columns) out[blockIdx.y * columns + column] = d[blockIdx.y] * b[blockIdx.y * columns + column];
}
void scale_rows(kernel::Tensor d, kernel::Tensor b, kernel::Tensor y) {
  const int rows = int(b.size(0)), columns = int(b.size(1));
  scale_kernel<<<dim3((columns + 255) / 256, rows), 256, 0, kernel::stream(b)>>>(d.data<const float>(), b.data<const float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(scale_rows, scale_rows);
