#include <cuda_agent/kernel.h>
__global__ void sum_kernel(const float* w, const float* b, float* out, int units, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c > columns) return;
  double sum = 0;
  for (int u = 0; u < units; ++u) sum += c < columns ? w[u * columns + c] : b[u];
  out[c] = float(sum);
}
__global__ void apply_kernel(const float* in, const float* w, float* out, int columns) {
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += 32) sum = fmaf(in[blockIdx.x * columns + c], w[c], sum);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) out[blockIdx.x] = sum + w[columns];
}
void sum_units(kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor summed) {
  const int units = int(weight.size(0)), columns = int(weight.size(1));
  sum_kernel<<<columns / 128 + 1, 128, 0, kernel::stream(weight)>>>(
      weight.data<const float>(), bias.data<const float>(), summed.data<float>(), units, columns);
}
void apply(kernel::Tensor x, kernel::Tensor summed, kernel::Tensor y) {
  apply_kernel<<<unsigned(x.size(0)), 32, 0, kernel::stream(x)>>>(x.data<const float>(), summed.data<const float>(), y.data<float>(), int(x.size(1)));
}
EXPORT_KERNEL(sum_units, sum_units);
EXPORT_KERNEL(apply, apply);
