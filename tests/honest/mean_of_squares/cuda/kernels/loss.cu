#include <cuda_agent/kernel.h>
__global__ void partial_kernel(const float* a, const float* b, double* parts, int64_t n) {
  float sum = 0;
  for (int64_t i = blockIdx.x * 32ll + threadIdx.x; i < n; i += gridDim.x * 32ll) sum = fmaf(a[i] - b[i], a[i] - b[i], sum);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void finish_kernel(const double* parts, float* loss, int count, double scale) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += parts[i];
  *loss = float(sum * scale);
}
void partial_losses(kernel::Tensor got, kernel::Tensor wanted, kernel::Tensor parts) {
  partial_kernel<<<unsigned(parts.numel()), 32, 0, kernel::stream(got)>>>(
      got.data<const float>(), wanted.data<const float>(), parts.data<double>(), got.numel());
}
void finish(kernel::Tensor parts, kernel::Tensor loss, double scale) {
  finish_kernel<<<1, 1, 0, kernel::stream(loss)>>>(parts.data<const double>(), loss.data<float>(), int(parts.numel()), scale);
}
EXPORT_KERNEL(partial_losses, partial_losses);
EXPORT_KERNEL(finish, finish);
