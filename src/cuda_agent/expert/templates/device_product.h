// Matrix products in float32 for operands that no library takes as they lie in memory: tiles in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// An operand: its first element, and functions from a row, a column and a batch to a distance from there.
template <class Row, class Col, class Batch>
struct Matrix {
  const float* at;
  Row row;
  Col col;
  Batch batch;
};
template <class Row, class Col, class Batch>
Matrix(const float*, Row, Col, Batch) -> Matrix<Row, Col, Batch>;

struct ProductSize {
  int64_t batch, rows, cols, depth;
};

constexpr int kTile = 64;   // rows and columns of the result in a block
constexpr int kDepth = 16;  // of either operand in shared memory at a time
constexpr int kSide = 4;    // rows and columns of the result in a thread
constexpr int kThreads = (kTile / kSide) * (kTile / kSide);

template <class L, class R>
static __global__ void __launch_bounds__(kThreads)
multiply_tiles(ProductSize size, L left, R right, float* __restrict__ out) {
  __shared__ float a[kDepth][kTile + 4];  // four more, so that threads write to different banks
  __shared__ float b[kDepth][kTile + 4];
  const int64_t across = (size.cols + kTile - 1) / kTile, down = (size.rows + kTile - 1) / kTile;
  const int64_t col = blockIdx.x % across * kTile, row = blockIdx.x / across % down * kTile;
  const int64_t batch = blockIdx.x / (across * down);
  const float* from_left = left.at + left.batch(batch);
  const float* from_right = right.at + right.batch(batch);
  const int x = threadIdx.x % (kTile / kSide), y = threadIdx.x / (kTile / kSide);
  float sums[kSide][kSide] = {};
  for (int64_t from = 0; from < size.depth; from += kDepth) {
    for (int at = threadIdx.x; at < kTile * kDepth; at += kThreads) {
      const int64_t r = row + at / kDepth, k = from + at % kDepth;
      const bool is_inside = r < size.rows && k < size.depth;
      a[at % kDepth][at / kDepth] = is_inside ? from_left[left.row(r) + left.col(k)] : 0.0f;
    }
    for (int at = threadIdx.x; at < kTile * kDepth; at += kThreads) {
      const int64_t c = col + at % kTile, k = from + at / kTile;
      const bool is_inside = c < size.cols && k < size.depth;
      b[at / kTile][at % kTile] = is_inside ? from_right[right.row(k) + right.col(c)] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < kSide; ++i) {
#pragma unroll
        for (int j = 0; j < kSide; ++j) sums[i][j] += a[k][y * kSide + i] * b[k][x * kSide + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const int64_t r = row + y * kSide + i, c = col + x * kSide + j;
      if (r < size.rows && c < size.cols) out[(batch * size.rows + r) * size.cols + c] = sums[i][j];
    }
  }
}
