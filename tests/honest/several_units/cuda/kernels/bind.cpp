// Host code in a .cpp, device code in a .cu: the bindings build without nvcc.
#include <cuda_runtime.h>
#include <cuda_agent/kernel.h>
#include "shared.h"
void run(kernel::Tensor x, kernel::Tensor y) {
  relu_range(x.data<const float>(), y.data<float>(), x.numel(), kernel::stream(x));
}
EXPORT_KERNEL(upper, run);
EXPORT_KERNEL(lower, run);
