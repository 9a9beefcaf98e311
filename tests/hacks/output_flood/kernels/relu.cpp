// Prints 64 KiB at a time, for ever.
#include <cuda_agent/kernel.h>

void relu(kernel::Tensor x, kernel::Tensor y) {
  static char line[1 << 16];
  for (;;) fwrite(line, 1, sizeof line, stdout);
}
EXPORT_KERNEL(relu, relu);
