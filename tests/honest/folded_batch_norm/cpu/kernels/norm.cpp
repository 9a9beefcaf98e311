#include <cuda_agent/kernel.h>
#include <math.h>
void fold(kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor mean, kernel::Tensor variance, kernel::Tensor folded, double eps) {
  const int64_t channels = weight.numel();
  float* out = folded.data<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const double factor = weight.data<const float>()[c] / sqrt(variance.data<const float>()[c] + eps);
    out[c] = float(factor);
    out[channels + c] = float(bias.data<const float>()[c] - mean.data<const float>()[c] * factor);
  }
}
void apply(kernel::Tensor x, kernel::Tensor folded, kernel::Tensor y) {
  const int64_t channels = x.size(1), pixels = x.size(2) * x.size(3), planes = x.size(0) * channels;
  const float *in = x.data<const float>(), *f = folded.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t plane = 0; plane < planes; ++plane) {
    const float factor = f[plane % channels], shift = f[channels + plane % channels];
    for (int64_t i = plane * pixels; i < (plane + 1) * pixels; ++i) {
      const float t = in[i] * factor + shift;
      out[i] = t > 0 ? t : 0;
    }
  }
}
EXPORT_KERNEL(fold, fold);
EXPORT_KERNEL(apply, apply);
