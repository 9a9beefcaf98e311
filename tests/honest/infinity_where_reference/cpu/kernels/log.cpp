#include <cuda_agent/kernel.h>
#include <math.h>
void log_relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? logf(in[i]) : -INFINITY;
}
EXPORT_KERNEL(log_relu, log_relu);
