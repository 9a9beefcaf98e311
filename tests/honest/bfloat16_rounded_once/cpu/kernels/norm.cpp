#include <cuda_agent/kernel.h>
#include <math.h>
#include <cstring>
static float widen(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}
static uint16_t narrow(float value) {  // to nearest, ties to even
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
void norm(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const uint16_t *in = x.data<const uint16_t>(), *w = weight.data<const uint16_t>();
  uint16_t* out = y.data<uint16_t>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += widen(in[row * columns + i]) * widen(in[row * columns + i]);
    const float scale = 1.0f / sqrtf(sum / float(columns) + 1e-6f);
    for (int64_t i = 0; i < columns; ++i) out[row * columns + i] = narrow(widen(in[row * columns + i]) * scale * widen(w[i]));
  }
}
EXPORT_KERNEL(norm, norm);
