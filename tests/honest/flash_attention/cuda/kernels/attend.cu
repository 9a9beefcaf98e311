// One warp a query, one lane a channel.
#include <cuda_agent/kernel.h>
__global__ void attend_kernel(const float* q, const float* k, const float* v, float* out, int length, float scale) {
  const int lane = threadIdx.x, row = blockIdx.x;
  const int64_t head = int64_t(blockIdx.y) * length;
  const float own = q[(head + row) * 32 + lane];
  float sum = 0, top = -INFINITY, total = 0;
  for (int j = 0; j <= row; ++j) {
    float score = own * k[(head + j) * 32 + lane];
    for (int d = 16; d; d /= 2) score += __shfl_xor_sync(~0u, score, d);
    score *= scale;
    const float now = fmaxf(top, score), shrink = expf(top - now), weight = expf(score - now);
    sum = sum * shrink + weight * v[(head + j) * 32 + lane];
    total = total * shrink + weight;
    top = now;
  }
  out[(head + row) * 32 + lane] = sum / total;
}
void attend(kernel::Tensor q, kernel::Tensor k, kernel::Tensor v, kernel::Tensor y, float scale) {
  kernel::check(q.size(2) == 32, "heads of 32");
  attend_kernel<<<dim3(unsigned(q.size(1)), unsigned(q.size(0))), 32, 0, kernel::stream(q)>>>(
      q.data<const float>(), k.data<const float>(), v.data<const float>(), y.data<float>(), int(q.size(1)), scale);
}
EXPORT_KERNEL(attend, attend);
