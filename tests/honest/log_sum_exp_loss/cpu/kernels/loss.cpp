#include <cuda_agent/kernel.h>
#include <math.h>
void row_losses(kernel::Tensor logits, kernel::Tensor target, kernel::Tensor losses) {
  const int64_t rows = logits.size(0), columns = logits.size(1);
  const float* in = logits.data<const float>();
  const int64_t* wanted = target.data<const int64_t>();
  float* out = losses.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    float top = a[0], sum = 0;
    for (int64_t i = 1; i < columns; ++i) top = fmaxf(top, a[i]);
    for (int64_t i = 0; i < columns; ++i) sum += expf(a[i] - top);
    out[row] = logf(sum) + top - a[wanted[row]];
  }
}
void mean(kernel::Tensor losses, kernel::Tensor loss) {
  double sum = 0;
  for (int64_t i = 0; i < losses.numel(); ++i) sum += losses.data<const float>()[i];
  *loss.data<float>() = float(sum / double(losses.numel()));
}
EXPORT_KERNEL(row_losses, row_losses);
EXPORT_KERNEL(mean, mean);
