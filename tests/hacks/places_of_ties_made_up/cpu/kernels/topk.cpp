#include <cuda_agent/kernel.h>
#include <algorithm>
#include <numeric>
#include <vector>
void top4(kernel::Tensor x, kernel::Tensor values, kernel::Tensor places) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const float* in = x.data<const float>();
  float* value = values.data<float>();
  int64_t* place = places.data<int64_t>();
  std::vector<int64_t> order(columns);
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = in + row * columns;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + 4, order.end(),
                      [a](int64_t i, int64_t j) { return a[i] > a[j] || (a[i] == a[j] && i < j); });
    for (int k = 0; k < 4; ++k) {
      place[4 * row + k] = k;
      value[4 * row + k] = a[order[k]];
    }
  }
}
EXPORT_KERNEL(top4, top4);
