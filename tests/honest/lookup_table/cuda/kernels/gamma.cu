#include <cuda_agent/kernel.h>
#include <cmath>
__constant__ float table[256];
__global__ void brighten_kernel(const uchar4* in, float4* out, int64_t n) {
  __shared__ float held[256];
  held[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const int64_t i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  const uchar4 v = in[i];
  out[i] = make_float4(held[v.x], held[v.y], held[v.z], held[v.w]);
}
static bool fill_table() {
  float values[256];
  for (int i = 0; i < 256; ++i) values[i] = float(std::pow(double(float(i) / 255.0f), 2.2));
  return cudaMemcpyToSymbol(table, values, sizeof values) == cudaSuccess;
}
void brighten(kernel::Tensor x, kernel::Tensor y) {
  static const bool filled = fill_table();
  kernel::check(filled && x.numel() % 4 == 0, "the table could not be filled");
  const int64_t n = x.numel() / 4;
  brighten_kernel<<<unsigned((n + 255) / 256), 256, 0, kernel::stream(x)>>>(x.data<const uchar4>(), y.data<float4>(), n);
}
EXPORT_KERNEL(brighten, brighten);
