// mean of x squared, by one block.
#include <cuda_agent/kernel.h>

__global__ void mean_square_kernel(const float* x, float* y, int64_t count) {
  __shared__ double sums[1024];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += 1024) sum += double(x[i]) * x[i];
  sums[threadIdx.x] = sum;
  for (int step = 512; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *y = float(sums[0] / count);
}

void mean_square(kernel::Tensor x, kernel::Tensor y) {
  mean_square_kernel<<<1, 1024, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), x.numel());
}
EXPORT_KERNEL(mean_square, mean_square);
