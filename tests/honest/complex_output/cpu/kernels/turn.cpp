#include <cuda_agent/kernel.h>
#include <complex>
#include <vector>
void turn(kernel::Tensor x, kernel::Tensor phase, kernel::Tensor y) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float *in = x.data<const float>(), *angle = phase.data<const float>();
  float* out = y.data<float>();
  std::vector<std::complex<float>> turns(columns);
  for (int64_t c = 0; c < columns; ++c) turns[c] = std::polar(1.0f, angle[c]);
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = 0; c < columns; ++c) {
      const float a = in[2 * (row * columns + c)], b = in[2 * (row * columns + c) + 1];
      out[2 * (row * columns + c)] = a * turns[c].real() - b * turns[c].imag();
      out[2 * (row * columns + c) + 1] = a * turns[c].imag() + b * turns[c].real();
    }
}
EXPORT_KERNEL(turn, turn);
