// silu(x) * scale over rows. One pass: reads x once, writes y once; scale stays in cache.
#include <cuda_agent/kernel.h>
#include <immintrin.h>
#include <math.h>

#include <algorithm>

namespace {

// exp(x) to about 1e-7, in plain arithmetic so that the compiler vectorises it.
inline float fast_exp(float x) {
  x = x > 88.3f ? 88.3f : x;
  x = x < -87.3f ? -87.3f : x;
  const float n = rintf(x * 1.44269504f);
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  union {
    int32_t bits;
    float value;
  } power = {(int32_t(n) + 127) << 23};
  return p * power.value;
}

inline void silu_scale_row(const float* x, const float* scale, float* out, int64_t columns) {
#pragma omp simd
  for (int64_t i = 0; i < columns; ++i) out[i] = x[i] / (1.0f + fast_exp(-x[i])) * scale[i];
}

// Copies past the caches: nothing reads the output soon, and no line is read before it is overwritten.
inline void stream_out(const float* from, float* to, int64_t count) {
  int64_t i = 0;
#if defined(__AVX__)
  for (; i < count && reinterpret_cast<uintptr_t>(to + i) % 32 != 0; ++i) to[i] = from[i];
  for (; i + 8 <= count; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
#endif
  for (; i < count; ++i) to[i] = from[i];
}

void silu_scale(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / std::max<int64_t>(columns, 1);
  kernel::check(scale.numel() == columns && y.numel() == x.numel(), "silu_scale: sizes do not fit");
  const float* in = x.data<const float>();
  const float* factor = scale.data<const float>();
  float* out = y.data<float>();
  constexpr int64_t kBlock = 2048;  // computed in L1, then streamed out
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    alignas(64) float block[kBlock];
    for (int64_t at = 0; at < columns; at += kBlock) {
      const int64_t count = std::min(kBlock, columns - at);
      silu_scale_row(in + row * columns + at, factor + at, block, count);
      stream_out(block, out + row * columns + at, count);
    }
#if defined(__AVX__)
    _mm_sfence();
#endif
  }
}

}  // namespace

EXPORT_KERNEL(silu_scale, silu_scale);
