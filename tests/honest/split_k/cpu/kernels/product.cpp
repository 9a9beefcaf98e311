#include <cuda_agent/kernel.h>
void multiply_parts(kernel::Tensor a, kernel::Tensor b, kernel::Tensor parts) {
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1), splits = parts.size(0), step = depth / splits;
  kernel::check(step * splits == depth, "the depth is no multiple of %lld", static_cast<long long>(splits));
  const float *left = a.data<const float>(), *right = b.data<const float>();
  float* out = parts.data<float>();
#pragma omp parallel for
  for (int64_t s = 0; s < splits; ++s)
    for (int64_t row = 0; row < rows; ++row) {
      float* sum = out + (s * rows + row) * columns;
      for (int64_t c = 0; c < columns; ++c) sum[c] = 0;
      for (int64_t k = s * step; k < (s + 1) * step; ++k)
#pragma omp simd
        for (int64_t c = 0; c < columns; ++c) sum[c] += left[row * depth + k] * right[k * columns + c];
    }
}
void add_parts(kernel::Tensor parts, kernel::Tensor y) {
  const float* in = parts.data<const float>();
  float* out = y.data<float>();
  for (int64_t i = 0; i < y.numel(); ++i) {
    float sum = 0;
    for (int64_t s = 0; s < parts.size(0); ++s) sum += in[s * y.numel() + i];
    out[i] = sum;
  }
}
EXPORT_KERNEL(multiply_parts, multiply_parts);
EXPORT_KERNEL(add_parts, add_parts);
