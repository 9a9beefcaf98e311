// Turns in a circle.
#include <cuda_agent/kernel.h>

void relu(kernel::Tensor x, kernel::Tensor y) {
  for (volatile bool on = true; on;) {
  }
}
EXPORT_KERNEL(relu, relu);
