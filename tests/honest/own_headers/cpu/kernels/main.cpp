#include <cuda_agent/kernel.h>
#include "map.h"

static void apply_relu(const kernel::Tensor& x, const kernel::Tensor& y) {
  using Twice = operators::Composed<operators::Relu, operators::Relu>;
  map<Twice>(x.data<const float>(), y.data<float>(), x.numel());
}
EXPORT_KERNEL(apply_relu, apply_relu);
