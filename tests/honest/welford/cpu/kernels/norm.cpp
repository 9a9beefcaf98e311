#include <cuda_agent/kernel.h>
#include <math.h>
void norm(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y, double eps) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    float mean[8] = {}, squares[8] = {};
    int64_t count = 0;
    for (int64_t i = 0; i + 8 <= columns; i += 8) {
      const float share = 1.0f / float(++count);
      for (int k = 0; k < 8; ++k) {
        const float delta = a[i + k] - mean[k];
        mean[k] += delta * share;
        squares[k] += delta * (a[i + k] - mean[k]);
      }
    }
    float m = mean[0], s = squares[0], n = float(count);
    for (int k = 1; k < 8; ++k) {
      const float delta = mean[k] - m, total = n + float(count);
      m += delta * float(count) / total;
      s += squares[k] + delta * delta * n * float(count) / total;
      n = total;
    }
    const float scale = 1.0f / sqrtf(s / n + float(eps));
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = (a[i] - m) * scale * w[i] + b[i];
  }
}
EXPORT_KERNEL(norm, norm);
