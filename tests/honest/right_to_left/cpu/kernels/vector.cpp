#include <cuda_agent/kernel.h>
void multiply_vector(kernel::Tensor a, kernel::Tensor v, kernel::Tensor y) {
  const int64_t rows = a.size(0), columns = a.size(1);
  const float *matrix = a.data<const float>(), *vector = v.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < columns; ++k) sum += matrix[row * columns + k] * vector[k];
    out[row] = sum;
  }
}
EXPORT_KERNEL(multiply_vector, multiply_vector);
