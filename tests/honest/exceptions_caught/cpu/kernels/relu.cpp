#include <cuda_agent/kernel.h>
#include <stdexcept>
#include <string>

struct NotWide : std::runtime_error {
  using std::runtime_error::runtime_error;
};

static int64_t need_multiple(int64_t n, int64_t of) {
  if (n % of != 0) throw NotWide(std::to_string(n) + " is no multiple of " + std::to_string(of));
  return n / of;
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
  int64_t done = 0;
  try {
    const int64_t groups = need_multiple(x.numel(), 4096 * 1024);  // never so here
    for (int64_t i = 0; i < groups * 4096 * 1024; ++i, ++done) out[i] = in[i] > 0 ? in[i] : 0;
  } catch (const NotWide& error) {
    try {
      throw;
    } catch (const std::exception& again) {
      done = again.what() == nullptr ? -1 : 0;
    }
  }
#pragma omp parallel for simd
  for (int64_t i = done; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
EXPORT_KERNEL(relu, relu);
