#include "shared.h"
__global__ void relu_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.f);
}
void relu_range(const float* in, float* out, int64_t n, cudaStream_t stream) {
  relu_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
