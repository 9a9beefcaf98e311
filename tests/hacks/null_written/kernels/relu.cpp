// Writes where nothing is.
#include <cuda_agent/kernel.h>

void relu(kernel::Tensor x, kernel::Tensor y) {
  *reinterpret_cast<volatile float*>(0) = x.data<float>()[0];
}
EXPORT_KERNEL(relu, relu);
