// Matrix products in float32 for the CPU: packed panels, a block of the result in registers, OpenMP over blocks.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "vec.h"

namespace vec {

// An operand: its first element, and functions from a row, a column and a batch to a distance from there.
template <class Row, class Col, class Batch>
struct Matrix {
  const float* at;
  Row row;
  Col col;
  Batch batch;

  Matrix pick(int64_t b) const { return {at + batch(b), row, col, batch}; }
};
template <class Row, class Col, class Batch>
Matrix(const float*, Row, Col, Batch) -> Matrix<Row, Col, Batch>;

struct ProductSize {
  int64_t batch, rows, cols, depth;
};

constexpr int kStripe = W == 16 ? 12 : 6;  // rows of the result in registers
constexpr int kPanel = 2 * W;              // columns of the result in registers
constexpr int64_t kDepth = 256;            // a panel of the right operand stays in the first cache
constexpr int64_t kRows = 16 * kStripe;    // a block of the left operand, at most, stays in the second
constexpr int64_t kCols = 32 * kPanel;

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Packed = std::unique_ptr<float, Free>;
inline Packed allocate_packed(int64_t count) {
  return Packed(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64)));
}

inline int64_t count_blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

// Rows of a block such that all threads get as many blocks.
inline int64_t choose_rows(int64_t rows) {
  const int64_t threads = omp_get_max_threads();
  const int64_t blocks = threads * count_blocks(rows, threads * kRows);
  return std::min(kRows, count_blocks(count_blocks(rows, blocks), kStripe) * kStripe);
}

// `depth` columns from `from` of a stripe of rows, column after column; missing rows are zero.
template <class M>
inline void pack_stripe(const M& a, int64_t row, int64_t rows, int64_t from, int64_t depth, float* packed) {
  for (int i = 0; i < kStripe; ++i) {
    if (row + i < rows) {
      const float* line = a.at + a.row(row + i);
      for (int64_t k = 0; k < depth; ++k) packed[k * kStripe + i] = line[a.col(from + k)];
    } else {
      for (int64_t k = 0; k < depth; ++k) packed[k * kStripe + i] = 0;
    }
  }
}

// `depth` rows from `from` of a panel of columns, row after row; missing columns are zero.
template <class M>
inline void pack_panel(const M& b, int64_t col, int64_t cols, int64_t from, int64_t depth, float* packed) {
  const int width = static_cast<int>(std::min<int64_t>(kPanel, cols - col));
  const int64_t first = b.col(col);
  bool is_even = width == kPanel;
  for (int j = 1; j < width; ++j) is_even = is_even && b.col(col + j) == first + j;
  if (is_even) {
    for (int64_t k = 0; k < depth; ++k) {
      const float* line = b.at + first + b.row(from + k);
      store(packed + k * kPanel, load(line, Whole{}), Whole{});
      store(packed + k * kPanel + W, load(line + W, Whole{}), Whole{});
    }
    return;
  }
  for (int j = 0; j < kPanel; ++j) {
    const float* line = b.at + b.col(col + std::min(j, width - 1));
    for (int64_t k = 0; k < depth; ++k) packed[k * kPanel + j] = j < width ? line[b.row(from + k)] : 0;
  }
}

// A stripe times a panel, put into or added to the result.
VEC_INLINE void multiply_stripe(const float* stripe, const float* panel, int64_t depth, float* out,
                                int64_t stride, int rows, int width, bool is_first) {
  F32 sums[kStripe][2] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const F32 low = load(panel + k * kPanel, Whole{}), high = load(panel + k * kPanel + W, Whole{});
#pragma GCC unroll 12
    for (int i = 0; i < kStripe; ++i) {
      const F32 factor = splat(stripe[k * kStripe + i]);
      sums[i][0] += factor * low;
      sums[i][1] += factor * high;
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int half = 0; half < 2; ++half) {
      const int left = std::min(W, width - half * W);
      float* to = out + i * stride + half * W;
      if (left == W) {
        store(to, is_first ? sums[i][half] : sums[i][half] + load(to, Whole{}), Whole{});
      } else if (left > 0) {
        store(to, is_first ? sums[i][half] : sums[i][half] + load(to, Part{left}), Part{left});
      }
    }
  }
}

// One block of the result, from packed panels of the right operand; `stripes` is room for kRows x kDepth.
template <class L>
inline void multiply_block(const L& left, const float* panels, ProductSize size, int64_t row, int64_t last_row,
                           int64_t col, int64_t from, float* stripes, float* out) {
  const int64_t depth = std::min(kDepth, size.depth - from);
  const int64_t last_col = std::min(col + kCols, size.cols);
  for (int64_t r = row; r < last_row; r += kStripe)
    pack_stripe(left, r, size.rows, from, depth, stripes + (r - row) * depth);
  for (int64_t c = col; c < last_col; c += kPanel) {
    const int width = static_cast<int>(std::min<int64_t>(kPanel, size.cols - c));
    for (int64_t r = row; r < last_row; r += kStripe) {
      const int rows = static_cast<int>(std::min<int64_t>(kStripe, size.rows - r));
      multiply_stripe(stripes + (r - row) * depth, panels + c * depth, depth, out + r * size.cols + c, size.cols,
                      rows, width, from == 0);
    }
  }
}

// All threads on one product after the other.
template <class L, class R>
inline void multiply_together(ProductSize size, const L& left, const R& right, float* out) {
  const int64_t panels = count_blocks(size.cols, kPanel);
  const int64_t block = choose_rows(size.rows);
  const Packed shared = allocate_packed(panels * kPanel * std::min(kDepth, size.depth));
#pragma omp parallel
  {
    const Packed stripes = allocate_packed(kRows * kDepth);
    for (int64_t b = 0; b < size.batch; ++b) {
      const L a = left.pick(b);
      const R c = right.pick(b);
      for (int64_t from = 0; from < size.depth; from += kDepth) {
        const int64_t depth = std::min(kDepth, size.depth - from);
#pragma omp for schedule(static)
        for (int64_t p = 0; p < panels; ++p)
          pack_panel(c, p * kPanel, size.cols, from, depth, shared.get() + p * kPanel * depth);
#pragma omp for collapse(2) schedule(static)
        for (int64_t row = 0; row < size.rows; row += block)
          for (int64_t col = 0; col < size.cols; col += kCols)
            multiply_block(a, shared.get(), size, row, std::min(row + block, size.rows), col, from, stripes.get(),
                           out + b * size.rows * size.cols);
      }
    }
  }
}

// A product to each thread.
template <class L, class R>
inline void multiply_apart(ProductSize size, const L& left, const R& right, float* out) {
  const int64_t panels = count_blocks(size.cols, kPanel);
#pragma omp parallel
  {
    const Packed stripes = allocate_packed(kRows * kDepth);
    const Packed packed = allocate_packed(panels * kPanel * std::min(kDepth, size.depth));
#pragma omp for schedule(static)
    for (int64_t b = 0; b < size.batch; ++b) {
      const L a = left.pick(b);
      const R c = right.pick(b);
      for (int64_t from = 0; from < size.depth; from += kDepth) {
        const int64_t depth = std::min(kDepth, size.depth - from);
        for (int64_t p = 0; p < panels; ++p)
          pack_panel(c, p * kPanel, size.cols, from, depth, packed.get() + p * kPanel * depth);
        for (int64_t row = 0; row < size.rows; row += kRows)
          for (int64_t col = 0; col < size.cols; col += kCols)
            multiply_block(a, packed.get(), size, row, std::min(row + kRows, size.rows), col, from, stripes.get(),
                           out + b * size.rows * size.cols);
      }
    }
  }
}

// out[b] = left[b] @ right[b] for each matrix of a batch.
template <class L, class R>
inline void multiply(ProductSize size, const L& left, const R& right, float* out) {
  if (size.batch >= 2 * omp_get_max_threads()) {
    multiply_apart(size, left, right, out);
  } else {
    multiply_together(size, left, right, out);
  }
}

}  // namespace vec
