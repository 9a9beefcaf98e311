#include <cuda_agent/kernel.h>
__global__ void above_kernel(const float* a, const float* b, bool* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = a[i] > b[i];
}
void above(kernel::Tensor a, kernel::Tensor b, kernel::Tensor y) {
  const int64_t n = y.numel();
  above_kernel<<<unsigned((n + 255) / 256), 256, 0, kernel::stream(a)>>>(a.data<const float>(), b.data<const float>(), y.data<bool>(), n);
}
EXPORT_KERNEL(above, above);
