#include <cuda_agent/kernel.h>
__global__ void part_kernel(const float* a, const float* b, float* parts, int rows, int depth, int columns, int step) {
  const int c = threadIdx.x, row = blockIdx.x, s = blockIdx.y;
  float sum = 0;
  for (int k = s * step; k < (s + 1) * step; ++k) sum = fmaf(a[row * depth + k], b[k * columns + c], sum);
  parts[(s * rows + row) * columns + c] = sum;
}
__global__ void add_kernel(const float* parts, float* out, int n, int splits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int s = 0; s < splits; ++s) sum += parts[s * n + i];
  out[i] = sum;
}
void multiply_parts(kernel::Tensor a, kernel::Tensor b, kernel::Tensor parts) {
  const int rows = int(a.size(0)), depth = int(a.size(1)), columns = int(b.size(1)), splits = int(parts.size(0));
  part_kernel<<<dim3(rows, splits), columns, 0, kernel::stream(a)>>>(
      a.data<const float>(), b.data<const float>(), parts.data<float>(), rows, depth, columns, depth / splits);
}
void add_parts(kernel::Tensor parts, kernel::Tensor y) {
  const int n = int(y.numel());
  add_kernel<<<(n + 255) / 256, 256, 0, kernel::stream(y)>>>(parts.data<const float>(), y.data<float>(), n, int(parts.size(0)));
}
EXPORT_KERNEL(multiply_parts, multiply_parts);
EXPORT_KERNEL(add_parts, add_parts);
