// Running sums, products and extremes, and sorting, along one dimension: (outer, length, inner), row-major.
#pragma once

#include "device.h"

struct LineSize {
  int64_t outer, length, inner;
};

constexpr int kLineThreads = 256;
constexpr int kLongestLine = 4096;  // elements of a line that is sorted in shared memory

// Everything is carried in float64, whose neutral element each operation names.
struct RunningSum {
  static DEVICE double begin() { return 0; }
  static DEVICE double step(double total, double x) { return total + x; }
};
struct RunningProduct {
  static DEVICE double begin() { return 1; }
  static DEVICE double step(double total, double x) { return total * x; }
};
struct RunningLargest {
  static DEVICE double begin() { return -std::numeric_limits<double>::infinity(); }
  static DEVICE double step(double best, double x) { return best != best || best > x ? best : x; }
};
struct RunningSmallest {
  static DEVICE double begin() { return std::numeric_limits<double>::infinity(); }
  static DEVICE double step(double best, double x) { return best != best || best < x ? best : x; }
};
struct RunningLogSumExp {
  static DEVICE double begin() { return -std::numeric_limits<double>::infinity(); }
  static DEVICE double step(double total, double x) {
    const bool is_first = total > x || total != total;
    const double high = is_first ? total : x, low = is_first ? x : total;
    return high == low && high - low != 0 ? high : high + log1p(exp(low - high));
  }
};

// Neighbouring threads walk along neighbouring lines.
template <class Op, class T>
static __global__ void __launch_bounds__(kLineThreads) traverse_lines(Op, LineSize size, const T* in, T* out) {
  const int64_t line = int64_t(blockIdx.x) * kLineThreads + threadIdx.x;
  if (line >= size.outer * size.inner) return;
  int64_t at = line / size.inner * size.length * size.inner + line % size.inner;
  double carried = Op::begin();
  for (int64_t i = 0; i < size.length; ++i, at += size.inner) {
    carried = Op::step(carried, double(in[at]));
    out[at] = T(carried);
  }
}

// A block to a line: each thread's element, then its warp's, then the block's, then what came before.
template <class Op, class T>
static __global__ void __launch_bounds__(kLineThreads) traverse_line(Op, LineSize size, const T* in, T* out) {
  __shared__ double sums[kLineThreads];
  const int self = threadIdx.x;
  const T* from = in + int64_t(blockIdx.x) * size.length;
  T* to = out + int64_t(blockIdx.x) * size.length;
  double before = Op::begin();
  for (int64_t start = 0; start < size.length; start += kLineThreads) {
    sums[self] = start + self < size.length ? double(from[start + self]) : Op::begin();
    __syncthreads();
    for (int reach = 1; reach < kLineThreads; reach *= 2) {
      const double left = self >= reach ? sums[self - reach] : Op::begin();
      __syncthreads();
      sums[self] = self >= reach ? Op::step(left, sums[self]) : sums[self];
      __syncthreads();
    }
    if (start + self < size.length) to[start + self] = T(Op::step(before, sums[self]));
    before = Op::step(before, sums[kLineThreads - 1]);
    __syncthreads();
  }
}

// A line in shared memory, in ascending order and NaN last; missing elements count as NaN.
static __global__ void __launch_bounds__(kLineThreads) sort_line(LineSize size, const float* in, float* out, int width) {
  __shared__ float line[kLongestLine];
  const int self = threadIdx.x;
  const int64_t at = int64_t(blockIdx.x) / size.inner * size.length * size.inner + int64_t(blockIdx.x) % size.inner;
  for (int i = self; i < width; i += kLineThreads)
    line[i] = i < size.length ? in[at + i * size.inner] : std::numeric_limits<float>::quiet_NaN();
  __syncthreads();
  for (int run = 2; run <= width; run *= 2)
    for (int reach = run / 2; reach > 0; reach /= 2) {
      for (int i = self; i < width; i += kLineThreads) {
        const int j = i ^ reach;
        const float a = line[i], b = j < width ? line[j] : a;
        const bool is_wrong = a > b || (a != a && b == b), is_down = (i & run) != 0;
        const bool is_wrong_down = b > a || (b != b && a == a);
        if (j > i && (is_down ? is_wrong_down : is_wrong)) line[i] = b, line[j] = a;
      }
      __syncthreads();
    }
  for (int i = self; i < size.length; i += kLineThreads) out[at + i * size.inner] = line[i];
}
