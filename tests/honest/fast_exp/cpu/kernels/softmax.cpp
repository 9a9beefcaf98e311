#include <cuda_agent/kernel.h>
#include <math.h>
#include <algorithm>
#include <cstring>

static inline float fast_exp(float x) {  // x <= 0
  x = std::max(x, -87.0f);
  const float n = rintf(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const int32_t bits = (int32_t(n) + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}

void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    float* b = out + row * columns;
    float top = a[0], sum = 0;
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < columns; ++i) top = std::max(top, a[i]);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < columns; ++i) sum += b[i] = fast_exp(a[i] - top);
    const float scale = 1.0f / sum;
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) b[i] *= scale;
  }
}
EXPORT_KERNEL(softmax, softmax);
