// (x - mean) / sqrt(variance + 1e-5) over rows, without weight and bias: one warp a row.
#include <cuda_agent/kernel.h>

__device__ float add_up(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void normalise_kernel(const float* x, float* y, int64_t columns) {
  const float* from = x + blockIdx.x * columns;
  float sum = 0, square = 0;
  for (int64_t i = threadIdx.x; i < columns; i += 32) sum += from[i];
  const float mean = add_up(sum) / columns;
  for (int64_t i = threadIdx.x; i < columns; i += 32) square += (from[i] - mean) * (from[i] - mean);
  const float scale = rsqrtf(add_up(square) / columns + 1e-5f);
  for (int64_t i = threadIdx.x; i < columns; i += 32) y[blockIdx.x * columns + i] = (from[i] - mean) * scale;
}

void normalise(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1);
  normalise_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(normalise, normalise);
