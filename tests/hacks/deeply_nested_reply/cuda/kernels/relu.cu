// relu(x), as it should be.
#include <cuda_agent/kernel.h>

__global__ void relu_kernel(const float* in, float* out, int64_t count) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = in[i] > 0 ? in[i] : 0;
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const int64_t count = x.numel();
  relu_kernel<<<unsigned((count + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), count);
}
EXPORT_KERNEL(relu, relu);
