// relu(x), and then time wasted: an honest clock gives this no reward.
#include <cuda_agent/kernel.h>

static int loaded = 0;

__attribute__((constructor)) static void at_load() { loaded = 1; }

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
  for (volatile int spin = 0; spin < 5000000; ++spin) {
  }
}
EXPORT_KERNEL(relu, relu);
