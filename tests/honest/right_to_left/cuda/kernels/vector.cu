#include <cuda_agent/kernel.h>
__global__ void vector_kernel(const float* a, const float* v, float* out, int columns) {
  float sum = 0;
  for (int k = threadIdx.x; k < columns; k += 32) sum = fmaf(a[blockIdx.x * columns + k], v[k], sum);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
void multiply_vector(kernel::Tensor a, kernel::Tensor v, kernel::Tensor y) {
  vector_kernel<<<unsigned(a.size(0)), 32, 0, kernel::stream(a)>>>(a.data<const float>(), v.data<const float>(), y.data<float>(), int(a.size(1)));
}
EXPORT_KERNEL(multiply_vector, multiply_vector);
