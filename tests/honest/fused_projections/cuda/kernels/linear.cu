#include <cuda_agent/kernel.h>
__global__ void linear_kernel(const float* in, const float* w, const float* b, float* out, int depth, int units) {
  const int u = blockIdx.x * blockDim.y + threadIdx.y, row = blockIdx.y, lane = threadIdx.x;
  if (u >= units) return;
  float sum = 0;
  for (int k = lane; k < depth; k += 32) sum = fmaf(in[row * depth + k], w[u * depth + k], sum);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) out[row * units + u] = sum + b[u];
}
void linear(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y) {
  const int rows = int(x.size(0)), depth = int(x.size(1)), units = int(y.size(1));
  linear_kernel<<<dim3((units + 7) / 8, rows), dim3(32, 8), 0, kernel::stream(x)>>>(
      x.data<const float>(), weight.data<const float>(), bias.data<const float>(), y.data<float>(), depth, units);
}
EXPORT_KERNEL(linear, linear);
