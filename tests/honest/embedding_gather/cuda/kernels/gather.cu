#include <cuda_agent/kernel.h>
#include <assert.h>
__global__ void gather_kernel(const int64_t* index, const float* table, float* out, int columns, int rows, float factor) {
  const int64_t row = index[blockIdx.x];
  assert(row >= 0 && row < rows);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[int64_t(blockIdx.x) * columns + c] = table[row * columns + c] * factor;
}
void gather(kernel::Tensor chosen, kernel::Tensor table, kernel::Tensor y, float factor) {
  gather_kernel<<<unsigned(chosen.numel()), 64, 0, kernel::stream(y)>>>(
      chosen.data<const int64_t>(), table.data<const float>(), y.data<float>(), int(table.size(1)), int(table.size(0)), factor);
}
EXPORT_KERNEL(gather, gather);
