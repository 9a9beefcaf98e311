#include <cuda_agent/kernel.h>
__global__ void argmax_kernel(const float* in, int64_t* out, int columns) {
  const float* a = in + int64_t(blockIdx.x) * columns;
  float top = -INFINITY;
  int place = columns;
  for (int i = threadIdx.x; i < columns; i += 32)
    if (a[i] > top) {
      top = a[i];
      place = i;
    }
  for (int d = 16; d; d /= 2) {
    const float other = __shfl_xor_sync(~0u, top, d);
    const int there = __shfl_xor_sync(~0u, place, d);
    if (other > top || (other == top && there < place)) {
      top = other;
      place = there;
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = place;
}
void argmax(kernel::Tensor x, kernel::Tensor y) {
  const int columns = int(x.size(-1));
  argmax_kernel<<<unsigned(x.numel() / columns), 32, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<int64_t>(), columns);
}
EXPORT_KERNEL(argmax, argmax);
