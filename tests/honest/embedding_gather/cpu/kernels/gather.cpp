#include <cuda_agent/kernel.h>
void gather(kernel::Tensor chosen, kernel::Tensor table, kernel::Tensor y, float factor) {
  const int64_t columns = table.size(1), rows = table.size(0);
  const int64_t* index = chosen.data<const int64_t>();
  const float* in = table.data<const float>();
  float* out = y.data<float>();
  for (int64_t i = 0; i < chosen.numel(); ++i) {
    kernel::check(index[i] >= 0 && index[i] < rows, "row %lld of %lld", (long long)index[i], (long long)rows);
    for (int64_t c = 0; c < columns; ++c) out[i * columns + c] = in[index[i] * columns + c] * factor;
  }
}
EXPORT_KERNEL(gather, gather);
