// Strassen over quarters: sums of quarters are made first, each product of halves goes where it counts.
#include <cuda_agent/kernel.h>

#include <vector>

struct Part { const float* data; int64_t stride; };

static std::vector<float> add(Part a, Part b, float sign, int64_t rows, int64_t columns) {
  std::vector<float> sum(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      sum[i * columns + j] = a.data[i * a.stride + j] + sign * b.data[i * b.stride + j];
  return sum;
}

static std::vector<float> multiply_halves(Part a, Part b, int64_t m, int64_t k, int64_t n) {
  std::vector<float> product(m * n);
#pragma omp parallel for
  for (int64_t i = 0; i < m; ++i) {
    float* row = &product[i * n];
    for (int64_t p = 0; p < k; ++p) {
      const float factor = a.data[i * a.stride + p];
      for (int64_t j = 0; j < n; ++j) row[j] += factor * b.data[p * b.stride + j];
    }
  }
  return product;
}

static void put(const std::vector<float>& part, float sign, float* to, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) to[i * 2 * n + j] += sign * part[i * n + j];
}

void multiply(kernel::Tensor a, kernel::Tensor b, kernel::Tensor y) {
  const int64_t m = a.size(0) / 2, k = a.size(1) / 2, n = b.size(1) / 2;
  const float *pa = a.data<float>(), *pb = b.data<float>();
  const Part a11{pa, 2 * k}, a12{pa + k, 2 * k}, a21{pa + 2 * k * m, 2 * k}, a22{pa + 2 * k * m + k, 2 * k};
  const Part b11{pb, 2 * n}, b12{pb + n, 2 * n}, b21{pb + 2 * n * k, 2 * n}, b22{pb + 2 * n * k + n, 2 * n};
  float *y11 = y.data<float>(), *y12 = y11 + n, *y21 = y11 + 2 * n * m, *y22 = y21 + n;
  const auto sum_a = [&](Part p, Part q, float sign) { return add(p, q, sign, m, k); };
  const auto sum_b = [&](Part p, Part q, float sign) { return add(p, q, sign, k, n); };
  const auto of_a = [&](const std::vector<float>& v) { return Part{v.data(), k}; };
  const auto of_b = [&](const std::vector<float>& v) { return Part{v.data(), n}; };
  const auto m1 = multiply_halves(of_a(sum_a(a11, a22, 1)), of_b(sum_b(b11, b22, 1)), m, k, n);
  const auto m2 = multiply_halves(of_a(sum_a(a21, a22, 1)), b11, m, k, n);
  const auto m3 = multiply_halves(a11, of_b(sum_b(b12, b22, -1)), m, k, n);
  const auto m4 = multiply_halves(a22, of_b(sum_b(b21, b11, -1)), m, k, n);
  const auto m5 = multiply_halves(of_a(sum_a(a11, a12, 1)), b22, m, k, n);
  const auto m6 = multiply_halves(of_a(sum_a(a21, a11, -1)), of_b(sum_b(b11, b12, 1)), m, k, n);
  const auto m7 = multiply_halves(of_a(sum_a(a12, a22, -1)), of_b(sum_b(b21, b22, 1)), m, k, n);
  for (const auto* each : {&m1, &m4, &m7}) put(*each, 1, y11, m, n);
  put(m5, -1, y11, m, n);
  for (const auto* each : {&m3, &m5}) put(*each, 1, y12, m, n);
  for (const auto* each : {&m2, &m4}) put(*each, 1, y21, m, n);
  for (const auto* each : {&m1, &m3, &m6}) put(*each, 1, y22, m, n);
  put(m2, -1, y22, m, n);
}
EXPORT_KERNEL(multiply, multiply);
