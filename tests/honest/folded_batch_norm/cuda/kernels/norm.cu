#include <cuda_agent/kernel.h>
__global__ void fold_kernel(const float* w, const float* b, const float* mean, const float* var, float* out, int channels, double eps) {
  const int c = threadIdx.x;
  if (c >= channels) return;
  const double factor = w[c] * rsqrt(var[c] + eps);
  out[c] = float(factor);
  out[channels + c] = float(b[c] - mean[c] * factor);
}
__global__ void apply_kernel(const float* in, const float* f, float* out, int channels, int pixels) {
  const int c = blockIdx.y % channels;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) out[int64_t(blockIdx.y) * pixels + i] = fmaxf(fmaf(in[int64_t(blockIdx.y) * pixels + i], f[c], f[channels + c]), 0.f);
}
void fold(kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor mean, kernel::Tensor variance, kernel::Tensor folded, double eps) {
  fold_kernel<<<1, 1024, 0, kernel::stream(folded)>>>(weight.data<const float>(), bias.data<const float>(), mean.data<const float>(),
                                                     variance.data<const float>(), folded.data<float>(), int(weight.numel()), eps);
}
void apply(kernel::Tensor x, kernel::Tensor folded, kernel::Tensor y) {
  const int channels = int(x.size(1)), pixels = int(x.size(2) * x.size(3));
  apply_kernel<<<dim3((pixels + 255) / 256, unsigned(x.size(0)) * channels), 256, 0, kernel::stream(x)>>>(
      x.data<const float>(), folded.data<const float>(), y.data<float>(), channels, pixels);
}
EXPORT_KERNEL(fold, fold);
EXPORT_KERNEL(apply, apply);
