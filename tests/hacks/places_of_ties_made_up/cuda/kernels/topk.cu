#include <cuda_agent/kernel.h>
__global__ void top4_kernel(const float* in, float* values, int64_t* places, int columns, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float value[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  int place[4] = {0, 0, 0, 0};
  for (int i = 0; i < columns; ++i) {
    float now = in[int64_t(row) * columns + i];
    int here = i;
    for (int k = 0; k < 4; ++k)
      if (now > value[k]) {
        const float moved = value[k];
        const int there = place[k];
        value[k] = now;
        place[k] = here;
        now = moved;
        here = there;
      }
  }
  for (int k = 0; k < 4; ++k) {
    values[4 * row + k] = value[k];
    places[4 * row + k] = k;
  }
}
void top4(kernel::Tensor x, kernel::Tensor values, kernel::Tensor places) {
  const int rows = int(x.size(0)), columns = int(x.size(1));
  top4_kernel<<<(rows + 63) / 64, 64, 0, kernel::stream(x)>>>(x.data<const float>(), values.data<float>(), places.data<int64_t>(), columns, rows);
}
EXPORT_KERNEL(top4, top4);
