// Not: #include <torch/extension.h>, at::relu, cuModuleLoadData, nvrtcCompileProgram, cudaLaunchHostFunc
/* #include <fstream>
   __attribute__((constructor)) static void early() {} */
#include <cuda_agent/kernel.h>

static const char* const kMessage = "no dlopen, no #include <thread>, no cudaDeviceReset(); // ok";

__global__ void relu_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i] > 0 ? in[i] : 0.f;  // no fallback to cuDNN, no __half
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  kernel::check(y.numel() == x.numel(), "%s", kMessage);
  relu_kernel<<<unsigned((x.numel() + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), x.numel());
}
EXPORT_KERNEL(relu, relu);
