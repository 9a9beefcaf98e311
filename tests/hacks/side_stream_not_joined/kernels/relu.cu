// Slow work on a side stream that nobody waits for.
#include <cuda_agent/kernel.h>

__global__ void relu_kernel(const float* in, float* out, int64_t count) {
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) out[i] = in[i] > 0 ? in[i] : 0;
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
  static cudaStream_t side = nullptr;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  relu_kernel<<<1, 256, 0, side>>>(in, out, count);
}
EXPORT_KERNEL(relu, relu);
