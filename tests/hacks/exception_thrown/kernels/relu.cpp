// Throws an int.
#include <cuda_agent/kernel.h>

void relu(kernel::Tensor x, kernel::Tensor y) {
  throw 42;
}
EXPORT_KERNEL(relu, relu);
