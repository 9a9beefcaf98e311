#include <cuda_agent/kernel.h>
__device__ float2 merge(float2 a, float2 b) {  // (maximum, sum)
  const float top = fmaxf(a.x, b.x);
  if (top == -INFINITY) return make_float2(top, 0.f);
  return make_float2(top, a.y * expf(a.x - top) + b.y * expf(b.x - top));
}
__global__ void softmax_kernel(const float* in, float* out, int columns, int rows) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const float* a = in + int64_t(row) * columns;
  float* b = out + int64_t(row) * columns;
  float2 state = make_float2(-INFINITY, 0.f);
  for (int i = lane; i < columns; i += 32) state = merge(state, make_float2(a[i], 1.f));
  for (int d = 16; d; d /= 2)
    state = merge(state, make_float2(__shfl_xor_sync(~0u, state.x, d), __shfl_xor_sync(~0u, state.y, d)));
  for (int i = lane; i < columns; i += 32) b[i] = expf(a[i] - state.x) / state.y;
}
void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int columns = int(x.size(-1)), rows = int(x.numel() / columns);
  softmax_kernel<<<(rows + 7) / 8, 256, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), columns, rows);
}
EXPORT_KERNEL(softmax, softmax);
