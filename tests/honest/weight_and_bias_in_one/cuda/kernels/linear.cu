#include <cuda_agent/kernel.h>
__global__ void linear_kernel(const float* in, const float* w, float* out, int depth, int units) {
  const int u = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (u >= units) return;
  float sum = w[depth * units + u];
  for (int k = depth - 1; k >= 0; --k) sum = fmaf(in[row * depth + k], w[k * units + u], sum);
  out[row * units + u] = sum * normcdff(sum);
}
void linear_gelu(kernel::Tensor x, kernel::Tensor packed, kernel::Tensor y) {
  const int rows = int(x.size(0)), depth = int(x.size(1)), units = int(y.size(1));
  linear_kernel<<<dim3((units + 127) / 128, rows), 128, 0, kernel::stream(x)>>>(
      x.data<const float>(), packed.data<const float>(), y.data<float>(), depth, units);
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
