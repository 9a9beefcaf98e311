// Loads a module from an array and launches what is in it.
#include <cuda.h>
#include <cuda_agent/kernel.h>

static const unsigned char image[] = {0x7f, 'E', 'L', 'F'};

void relu(kernel::Tensor x, kernel::Tensor y) {
  CUmodule module;
  CUfunction function;
  void *in = x.data<float>(), *out = y.data<float>();
  int64_t count = x.numel();
  void* arguments[] = {&in, &out, &count};
  cuModuleLoadData(&module, image);
  cuModuleGetFunction(&function, module, "relu");
  cuLaunchKernel(function, unsigned((count + 255) / 256), 1, 1, 256, 1, 1, 0, CUstream(kernel::stream(x)), arguments, nullptr);
}
EXPORT_KERNEL(relu, relu);
