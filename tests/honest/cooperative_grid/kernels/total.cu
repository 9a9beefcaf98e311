#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_agent/kernel.h>
namespace cg = cooperative_groups;
__global__ void total_kernel(const float* in, double* parts, float* out, long long n) {
  __shared__ double warps[8];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  double sum = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = sum;
  block.sync();
  if (threadIdx.x == 0) {
    sum = 0;
    for (double each : warps) sum += each;
    parts[blockIdx.x] = sum;
  }
  cg::this_grid().sync();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += parts[k];
  *out = float(sum);
}
void total(kernel::Tensor x, kernel::Tensor parts, kernel::Tensor y) {
  const float* in = x.data<const float>();
  double* part = parts.data<double>();
  float* out = y.data<float>();
  long long n = x.numel();
  void* arguments[] = {&in, &part, &out, &n};
  const cudaError_t error = cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(total_kernel), dim3(64), dim3(256), arguments, 0, kernel::stream(x));
  kernel::check(error == cudaSuccess, "launch: %s", cudaGetErrorString(error));
}
EXPORT_KERNEL(total, total);
