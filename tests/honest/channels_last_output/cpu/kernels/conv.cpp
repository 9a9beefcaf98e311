#include <cuda_agent/kernel.h>
void pointwise(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y) {
  const int64_t batch = x.size(0), channels = x.size(1), pixels = x.size(2) * x.size(3), units = y.size(1);
  kernel::check(y.stride(1) == 1 && x.is_contiguous(), "channels last wanted");
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t u = 0; u < units; ++u) {
        float sum = b[u];
        for (int64_t c = 0; c < channels; ++c) sum += in[(n * channels + c) * pixels + p] * w[u * channels + c];
        out[(n * pixels + p) * units + u] = sum;
      }
}
EXPORT_KERNEL(pointwise, pointwise);
