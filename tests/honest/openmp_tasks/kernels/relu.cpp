#include <cuda_agent/kernel.h>
#include <omp.h>

static void relu_range(const float* in, float* out, int64_t n) {
  if (n <= 1 << 14) {
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] > 0 ? in[i] : 0;
    return;
  }
  const int64_t half = n / 2;
#pragma omp task
  relu_range(in, out, half);
#pragma omp task
  relu_range(in + half, out + half, n - half);
#pragma omp taskwait
}

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
  const int64_t n = x.numel(), quarter = n / 4;
#pragma omp parallel num_threads(omp_get_max_threads())
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      relu_range(in, out, 3 * quarter);
    }
  }
#pragma omp parallel sections
  {
#pragma omp section
    relu_range(in + 3 * quarter, out + 3 * quarter, quarter / 2);
#pragma omp section
    relu_range(in + 3 * quarter + quarter / 2, out + 3 * quarter + quarter / 2, n - 3 * quarter - quarter / 2);
  }
}
EXPORT_KERNEL(relu, relu);
