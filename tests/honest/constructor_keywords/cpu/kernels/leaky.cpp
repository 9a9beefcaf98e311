#include <cuda_agent/kernel.h>
void leaky(kernel::Tensor x, kernel::Tensor bias, kernel::Tensor y, float slope) {
  const int64_t columns = x.size(-1);
  const float *in = x.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < x.numel() / columns; ++row)
    for (int64_t i = 0; i < columns; ++i) {
      const float t = in[row * columns + i] + b[i];
      out[row * columns + i] = t > 0 ? t : t * slope;
    }
}
EXPORT_KERNEL(leaky, leaky);
