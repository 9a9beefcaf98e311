#include <cuda_agent/kernel.h>
__global__ void masked_kernel(const float* in, const bool* mask, float* out, int columns) {
  const int64_t from = int64_t(blockIdx.x) * columns;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32)
    if (!mask[from + i]) top = fmaxf(top, in[from + i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = threadIdx.x; i < columns; i += 32) sum += out[from + i] = mask[from + i] ? 0.f : expf(in[from + i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = threadIdx.x; i < columns; i += 32) out[from + i] = out[from + i] / sum;  // 0 / 0 is the NaN that is wanted
}
void masked_softmax(kernel::Tensor x, kernel::Tensor hidden, kernel::Tensor y) {
  masked_kernel<<<unsigned(x.size(0)), 32, 0, kernel::stream(x)>>>(x.data<const float>(), hidden.data<const bool>(), y.data<float>(), int(x.size(1)));
}
EXPORT_KERNEL(masked_softmax, masked_softmax);
