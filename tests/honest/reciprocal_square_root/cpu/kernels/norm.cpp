#include <cuda_agent/kernel.h>
#include <math.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif
static float invert_root(float x) {
#if defined(__SSE__)
  float r = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(x)));
  r = r * (1.5f - 0.5f * x * r * r);
  return r * (1.5f - 0.5f * x * r * r);
#else
  return 1.0f / sqrtf(x);
#endif
}
void norm(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y, float inverse, float eps) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float *in = x.data<const float>(), *w = weight.data<const float>(), *b = bias.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    float mean = 0, squares = 0;
#pragma omp simd reduction(+ : mean)
    for (int64_t i = 0; i < columns; ++i) mean += a[i];
    mean *= inverse;
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < columns; ++i) squares += (a[i] - mean) * (a[i] - mean);
    const float scale = invert_root(squares * inverse + eps);
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = (a[i] - mean) * (scale * w[i]) + b[i];
  }
}
EXPORT_KERNEL(norm, norm);
