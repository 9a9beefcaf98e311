#include <cuda_agent/kernel.h>
void argmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(-1), rows = x.numel() / columns;
  const float* in = x.data<const float>();
  int64_t* out = y.data<int64_t>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    int64_t best = columns - 1;  // from the end, so >= keeps the first
    for (int64_t i = columns - 1; i >= 0; --i)
      if (a[i] >= a[best]) best = i;
    out[row] = best;
  }
}
EXPORT_KERNEL(argmax, argmax);
