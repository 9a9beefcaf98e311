// Values below 2^9 in size, as steps of 2^-32: a million of them fit into 64 bits.
#include <cuda_agent/kernel.h>

void total(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  const int64_t count = x.numel();
  int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += int64_t(double(in[i]) * 4294967296.0);
  *y.data<float>() = float(double(sum) / 4294967296.0);
}
EXPORT_KERNEL(total, total);
