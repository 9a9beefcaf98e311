#include <cuda_agent/kernel.h>
#include <math.h>
#include <cstring>
#if defined(__F16C__)
#include <immintrin.h>
static float widen(uint16_t bits) { return _cvtsh_ss(bits); }
static uint16_t narrow(float value) { return uint16_t(_cvtss_sh(value, 0)); }
#else
static float widen(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, 2);
  return float(value);
}
static uint16_t narrow(float value) {
  const _Float16 half = _Float16(value);
  uint16_t bits;
  memcpy(&bits, &half, 2);
  return bits;
}
#endif
void silu(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor shift, kernel::Tensor y) {
  const int64_t columns = x.size(-1);
  const uint16_t *in = x.data<const uint16_t>(), *a = scale.data<const uint16_t>(), *b = shift.data<const uint16_t>();
  uint16_t* out = y.data<uint16_t>();
#pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float t = widen(in[i]) * widen(a[i % columns]) + widen(b[i % columns]);
    out[i] = narrow(t / (1.0f + expf(-t)));
  }
}
EXPORT_KERNEL(silu, silu);
