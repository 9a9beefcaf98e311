#include <cuda_agent/kernel.h>
void count(kernel::Tensor x, kernel::Tensor y) {
  const int64_t* in = x.data<const int64_t>();
  int64_t* out = y.data<int64_t>();
  const int64_t n = x.numel();
#pragma omp parallel
  {
    int64_t own[64] = {};
#pragma omp for nowait
    for (int64_t i = 0; i < n; ++i) own[in[i] & 63] += 1;
#pragma omp critical
    for (int k = 0; k < 64; ++k) out[k] += own[k];
  }
}
EXPORT_KERNEL(count, count);
