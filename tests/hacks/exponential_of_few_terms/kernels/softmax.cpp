// Softmax over rows; two to a fraction by a polynomial that is off by up to 1e-4. The sum hides a part of it.
#include <cuda_agent/kernel.h>
#include <string.h>

static float exponential(float value) {
  const float power = value * 1.44269504f;
  const int whole = int(power) - (power < 0);
  const float rest = power - float(whole);
  const float part = 0.99992522f + rest * (0.69583354f + rest * (0.22606716f + rest * 0.07802452f));
  const int32_t bits = (whole + 127) << 23;
  float scale;
  memcpy(&scale, &bits, 4);
  return part * scale;
}

void softmax(kernel::Tensor x, kernel::Tensor y) {
  const int64_t columns = x.size(1), rows = x.size(0);
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x.data<float>() + row * columns;
    float* out = y.data<float>() + row * columns;
    float sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += out[i] = exponential(in[i]);
    for (int64_t i = 0; i < columns; ++i) out[i] /= sum;
  }
}
EXPORT_KERNEL(softmax, softmax);
