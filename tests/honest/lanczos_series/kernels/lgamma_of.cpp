// The log of gamma by Stirling's series after a shift of the argument by eight.
#include <cuda_agent/kernel.h>
#include <math.h>

static const double kHalfLogTwoPi = 0.5 * log(2.0 * acos(-1.0));

static double log_gamma(double x) {
  double product = 1.0;
  for (int i = 0; i < 8; ++i) product *= x + i;
  const double z = x + 8.0, r = 1.0 / z, s = r * r;
  const double series = r * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s / 1680)));
  return (z - 0.5) * log(z) - z + kHalfLogTwoPi + series - log(product);
}

void lgamma_of(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const int64_t count = x.numel();
#pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) out[i] = float(log_gamma(in[i]));
}
EXPORT_KERNEL(lgamma_of, lgamma_of);
