#include <cuda_agent/kernel.h>
__global__ void pointwise_kernel(const float* in, const float* w, const float* b, float* out, int channels, int pixels, int units) {
  const int u = threadIdx.x, p = blockIdx.x, n = blockIdx.y;
  float sum = b[u];
  for (int c = 0; c < channels; ++c) sum = fmaf(in[(n * channels + c) * pixels + p], w[u * channels + c], sum);
  out[(n * pixels + p) * units + u] = sum;
}
void pointwise(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y) {
  const int channels = int(x.size(1)), pixels = int(x.size(2) * x.size(3)), units = int(y.size(1));
  pointwise_kernel<<<dim3(pixels, unsigned(x.size(0))), units, 0, kernel::stream(x)>>>(
      x.data<const float>(), weight.data<const float>(), bias.data<const float>(), y.data<float>(), channels, pixels, units);
}
EXPORT_KERNEL(pointwise, pointwise);
