#include <cuda_agent/kernel.h>
__global__ void turn_kernel(const float2* in, const float* phase, float2* out, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  const float2 a = in[int64_t(blockIdx.y) * columns + c];
  float sine, cosine;
  sincosf(phase[c], &sine, &cosine);
  out[int64_t(blockIdx.y) * columns + c] = make_float2(a.x * cosine - a.y * sine, a.x * sine + a.y * cosine);
}
void turn(kernel::Tensor x, kernel::Tensor phase, kernel::Tensor y) {
  const int rows = int(x.size(0)), columns = int(x.size(1));
  turn_kernel<<<dim3((columns + 127) / 128, rows), 128, 0, kernel::stream(x)>>>(
      x.data<const float2>(), phase.data<const float>(), y.data<float2>(), columns);
}
EXPORT_KERNEL(turn, turn);
