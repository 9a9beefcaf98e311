// Traps.
#include <cuda_agent/kernel.h>

__global__ void stop() { asm volatile("trap;"); }

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
  stop<<<1, 1, 0, kernel::stream(x)>>>();
  (void)in, (void)out, (void)count;
}
EXPORT_KERNEL(relu, relu);
