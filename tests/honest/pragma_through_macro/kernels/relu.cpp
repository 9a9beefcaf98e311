#include <cuda_agent/kernel.h>

#define PRAGMA(x) _Pragma(#x)
#ifdef _OPENMP
#define PARALLEL(clauses) PRAGMA(omp parallel for simd clauses)
#else
#define PARALLEL(clauses)
#endif

void relu(kernel::Tensor x, kernel::Tensor y) {
  const float* in = x.data<const float>();
  float* out = y.data<float>();
  PARALLEL(schedule(static))
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
EXPORT_KERNEL(relu, relu);
