// The log of gamma on [1, 5]: straight lines over 512 pieces, off by up to 1e-5 in the middle of a piece.
#include <cuda_agent/kernel.h>
#include <math.h>

#include <vector>

static constexpr int kPieces = 512;

static std::vector<float> tabulate() {
  std::vector<float> table(kPieces + 2);
  for (int i = 0; i < kPieces + 2; ++i) table[i] = float(lgamma(1.0 + 4.0 * i / kPieces));
  return table;
}

static const std::vector<float> table = tabulate();

void lgamma_of(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
#pragma omp parallel for simd
  for (int64_t i = 0; i < count; ++i) {
    const float at = (in[i] - 1.0f) * (kPieces / 4.0f);
    const int piece = int(at);
    out[i] = table[piece] + (at - float(piece)) * (table[piece + 1] - table[piece]);
  }
}
EXPORT_KERNEL(lgamma_of, lgamma_of);
