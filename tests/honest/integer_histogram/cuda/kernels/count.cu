#include <cuda_agent/kernel.h>
__global__ void count_kernel(const int64_t* in, unsigned long long* out, int64_t n) {
  __shared__ unsigned own[64];
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  __syncthreads();
  for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < n; i += int64_t(gridDim.x) * blockDim.x)
    atomicAdd(own + (in[i] & 63), 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(out + threadIdx.x, static_cast<unsigned long long>(own[threadIdx.x]));
}
void count(kernel::Tensor x, kernel::Tensor y) {
  count_kernel<<<128, 256, 0, kernel::stream(x)>>>(
      x.data<const int64_t>(), reinterpret_cast<unsigned long long*>(y.data<int64_t>()), x.numel());
}
EXPORT_KERNEL(count, count);
