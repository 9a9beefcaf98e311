// softmax(x) over rows, as it should be: one warp a row.
#include <cuda_agent/kernel.h>

__global__ void softmax_kernel(const float* in, float* out, int64_t columns) {
  const float* from = in + blockIdx.x * columns;
  float* to = out + blockIdx.x * columns;
  float top = from[0], sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += 32) top = fmaxf(top, from[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  for (int64_t i = threadIdx.x; i < columns; i += 32) sum += expf(from[i] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  for (int64_t i = threadIdx.x; i < columns; i += 32) to[i] = expf(from[i] - top) / sum;
}

void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1);
  softmax_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(softmax, softmax);
