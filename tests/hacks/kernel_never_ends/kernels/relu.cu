// Turns in a circle.
#include <cuda_agent/kernel.h>

__global__ void turn(volatile float* out) {
  while (out[0] != 12345.0f) {
  }
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
  turn<<<1, 1, 0, kernel::stream(x)>>>(out);
  (void)in, (void)count;
}
EXPORT_KERNEL(relu, relu);
