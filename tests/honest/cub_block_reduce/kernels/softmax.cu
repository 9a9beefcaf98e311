#include <cub/block/block_reduce.cuh>
#include <cuda_agent/kernel.h>
constexpr int kThreads = 256;
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
__global__ void softmax_kernel(const float* in, float* out, int columns) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ float top, total;
  const float* a = in + int64_t(blockIdx.x) * columns;
  float m = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) m = fmaxf(m, a[i]);
  m = Reduce(storage).Reduce(m, Larger{});
  if (threadIdx.x == 0) top = m;
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += kThreads) sum += expf(a[i] - top);
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += kThreads) out[int64_t(blockIdx.x) * columns + i] = expf(a[i] - top) / total;
}
void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int columns = int(x.size(-1));
  softmax_kernel<<<unsigned(x.numel() / columns), kThreads, 0, kernel::stream(x)>>>(x.data<const float>(), y.data<float>(), columns);
}
EXPORT_KERNEL(softmax, softmax);
