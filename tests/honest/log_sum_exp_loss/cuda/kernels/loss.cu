#include <cuda_agent/kernel.h>
__global__ void row_kernel(const float* logits, const int64_t* target, float* losses, int columns) {
  const float* a = logits + int64_t(blockIdx.x) * columns;
  float top = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) top = fmaxf(top, a[i]);
  for (int d = 16; d; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int i = threadIdx.x; i < columns; i += 32) sum += expf(a[i] - top);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + top - a[target[blockIdx.x]];
}
__global__ void mean_kernel(const float* losses, float* loss, int rows) {
  double sum = 0;
  for (int i = threadIdx.x; i < rows; i += 32) sum += losses[i];
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) *loss = float(sum / rows);
}
void row_losses(kernel::Tensor logits, kernel::Tensor target, kernel::Tensor losses) {
  row_kernel<<<unsigned(logits.size(0)), 32, 0, kernel::stream(logits)>>>(
      logits.data<const float>(), target.data<const int64_t>(), losses.data<float>(), int(logits.size(1)));
}
void mean(kernel::Tensor losses, kernel::Tensor loss) {
  mean_kernel<<<1, 32, 0, kernel::stream(loss)>>>(losses.data<const float>(), loss.data<float>(), int(losses.numel()));
}
EXPORT_KERNEL(row_losses, row_losses);
EXPORT_KERNEL(mean, mean);
