#include <cuda_agent/kernel.h>
__device__ float sum_warp(float value) {
  for (int d = 16; d; d /= 2) value += __shfl_xor_sync(~0u, value, d);
  return value;
}
__global__ void block_kernel(const float* in, const float* w, const float* b, const float* g, float* out, int columns) {
  const float* a = in + int64_t(blockIdx.x) * columns;
  float mean = 0, squares = 0;
  for (int i = threadIdx.x; i < columns; i += 32) mean += a[i];
  mean = sum_warp(mean) / columns;
  for (int i = threadIdx.x; i < columns; i += 32) squares += (a[i] - mean) * (a[i] - mean);
  const float scale = rsqrtf(sum_warp(squares) / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += 32)
    out[int64_t(blockIdx.x) * columns + i] = a[i] + tanhf(g[i]) * ((a[i] - mean) * scale * w[i] + b[i]);
}
void block(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor gate, kernel::Tensor y) {
  const int columns = int(x.size(-1));
  block_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(
      x.data<const float>(), weight.data<const float>(), bias.data<const float>(), gate.data<const float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(block, block);
