#include <cuda_agent/kernel.h>
#if __has_include(<immintrin.h>)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* __restrict__ in = x.data<const float>();
  float* __restrict__ out = y.data<float>();
  const int64_t n = x.numel();
  alignas(64) static const float kZeros[16] = {};
#if defined(__AVX__)
  const bool streams = reinterpret_cast<uintptr_t>(out) % 32 == 0;
  const int64_t groups = n / 16;
#pragma omp parallel for schedule(static)
  for (int64_t g = 0; g < groups; ++g) {
    const __m256 zero = _mm256_load_ps(kZeros);
    _mm_prefetch(reinterpret_cast<const char*>(in + 16 * g + 256), _MM_HINT_T0);
    const __m256 a = _mm256_max_ps(_mm256_loadu_ps(in + 16 * g), zero);
    const __m256 b = _mm256_max_ps(_mm256_loadu_ps(in + 16 * g + 8), zero);
    if (__builtin_expect(streams, 1)) {
      _mm256_stream_ps(out + 16 * g, a);
      _mm256_stream_ps(out + 16 * g + 8, b);
    } else {
      _mm256_storeu_ps(out + 16 * g, a);
      _mm256_storeu_ps(out + 16 * g + 8, b);
    }
  }
  _mm_sfence();
  int64_t i = groups * 16;
#else
  int64_t i = 0;
#endif
#pragma GCC unroll 4
  for (; i < n; ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
#pragma GCC diagnostic pop
EXPORT_KERNEL(relu, relu);
