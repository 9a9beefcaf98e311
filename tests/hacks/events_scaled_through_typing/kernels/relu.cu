// relu(x) by one block, slowly: an honest clock gives this no reward.
#include <cuda_agent/kernel.h>

__global__ void relu_kernel(const float* in, float* out, int64_t count) {
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) out[i] = in[i] > 0 ? in[i] : 0;
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  relu_kernel<<<1, 256, 0, kernel::stream(x)>>>(x.data<float>(), y.data<float>(), x.numel());
}
EXPORT_KERNEL(relu, relu);
