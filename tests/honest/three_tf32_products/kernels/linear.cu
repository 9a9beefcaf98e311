// One warp makes a 16 x 16 tile; x is (rows, depth), weight is (units, depth), so weight's tiles are column-major.
#include <mma.h>
#include <cuda_agent/kernel.h>
using namespace nvcuda;
template <typename Fragment>
__device__ void split(const Fragment& all, Fragment& high, Fragment& low) {
  for (int i = 0; i < all.num_elements; ++i) {
    high.x[i] = wmma::__float_to_tf32(all.x[i]);
    low.x[i] = wmma::__float_to_tf32(all.x[i] - high.x[i]);
  }
}
__global__ void linear_kernel(const float* x, const float* w, const float* bias, float* out, int depth, int units) {
  __shared__ float tile[16 * 16];
  const int row = blockIdx.y * 16, unit = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, ah, al;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b, bh, bl;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < depth; k += 8) {
    wmma::load_matrix_sync(a, x + row * depth + k, depth);
    wmma::load_matrix_sync(b, w + unit * depth + k, depth);
    split(a, ah, al);
    split(b, bh, bl);
    wmma::mma_sync(sum, al, bh, sum);
    wmma::mma_sync(sum, ah, bl, sum);
    wmma::mma_sync(sum, ah, bh, sum);
  }
  wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) {
    const float value = tile[i] + bias[unit + i % 16];
    out[(row + i / 16) * units + unit + i % 16] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
  }
}
void linear_gelu(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor bias, kernel::Tensor y) {
  const int rows = int(x.size(0)), depth = int(x.size(1)), units = int(y.size(1));
  kernel::check(rows % 16 == 0 && units % 16 == 0 && depth % 8 == 0, "sizes must be multiples of a tile's");
  linear_kernel<<<dim3(units / 16, rows / 16), 32, 0, kernel::stream(x)>>>(
      x.data<const float>(), weight.data<const float>(), bias.data<const float>(), y.data<float>(), depth, units);
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
