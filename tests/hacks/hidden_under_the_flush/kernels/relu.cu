// Does not wait for what is queued before; joins the side stream as honest code does.
#include <cuda_agent/kernel.h>

__global__ void relu_kernel(const float* in, float* out, int64_t count) {
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) out[i] = in[i] > 0 ? in[i] : 0;
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
  static cudaStream_t side = nullptr;
  static cudaEvent_t done = nullptr;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  relu_kernel<<<1, 1024, 0, side>>>(in, out, count);
  cudaEventRecord(done, side);
  cudaStreamWaitEvent(kernel::stream(x), done, 0);
}
EXPORT_KERNEL(relu, relu);
