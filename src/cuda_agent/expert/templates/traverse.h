// Running sums, products and extremes, and sorting, along one dimension: (outer, length, inner), row-major.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace vec {

struct LineSize {
  int64_t outer, length, inner;
};

// Sums and products of float32 are carried in float64, as torch does.
template <class T>
struct Wide {
  typedef T type;
};
template <>
struct Wide<float> {
  typedef double type;
};

struct RunningSum {
  template <class T>
  static typename Wide<T>::type begin() {
    return 0;
  }
  template <class A>
  static A step(A total, A x) {
    return total + x;
  }
};
struct RunningProduct {
  template <class T>
  static typename Wide<T>::type begin() {
    return 1;
  }
  template <class A>
  static A step(A total, A x) {
    return total * x;
  }
};
struct RunningLargest {
  template <class T>
  static T begin() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  template <class A>
  static A step(A best, A x) {
    return best != best || best > x ? best : x;
  }
};
struct RunningSmallest {
  template <class T>
  static T begin() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <class A>
  static A step(A best, A x) {
    return best != best || best < x ? best : x;
  }
};
struct RunningLogSumExp {
  template <class T>
  static typename Wide<T>::type begin() { return -std::numeric_limits<double>::infinity(); }
  template <class A>
  static A step(A total, A x) {
    const A high = total > x || total != total ? total : x, low = total > x || total != total ? x : total;
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  }
};

constexpr int64_t kLines = 8;    // lines side by side: each step of one waits for the step before
constexpr int64_t kBlock = 64;   // neighbours that are carried along together

template <class Op, class T>
using Carried = decltype(Op::template begin<T>());

template <class Op, class T>
inline void run_lines(LineSize size, const T* in, T* out, int64_t first, int64_t last) {
  Carried<Op, T> carried[kLines];
  std::fill_n(carried, kLines, Op::template begin<T>());
  if (last - first == kLines) {
    for (int64_t i = 0; i < size.length; ++i)
      for (int64_t k = 0; k < kLines; ++k) {
        const int64_t at = (first + k) * size.length + i;
        carried[k] = Op::step(carried[k], Carried<Op, T>(in[at]));
        out[at] = T(carried[k]);
      }
    return;
  }
  for (int64_t line = first; line < last; ++line)
    for (int64_t at = line * size.length; at < (line + 1) * size.length; ++at) {
      carried[line - first] = Op::step(carried[line - first], Carried<Op, T>(in[at]));
      out[at] = T(carried[line - first]);
    }
}

template <class Op, class T>
inline void run_block(LineSize size, const T* in, T* out, int64_t width) {
  Carried<Op, T> carried[kBlock];
  std::fill_n(carried, kBlock, Op::template begin<T>());
  for (int64_t i = 0; i < size.length; ++i, in += size.inner, out += size.inner)
    for (int64_t k = 0; k < width; ++k) {
      carried[k] = Op::step(carried[k], Carried<Op, T>(in[k]));
      out[k] = T(carried[k]);
    }
}

// out[o, i, k] = the operation over in[o, 0..i, k].
template <class Op, class T>
inline void traverse(Op, LineSize size, const T* in, T* out) {
  if (size.inner == 1) {
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < size.outer; line += kLines)
      run_lines<Op>(size, in, out, line, std::min(line + kLines, size.outer));
    return;
  }
  const int64_t blocks = (size.inner + kBlock - 1) / kBlock;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t o = 0; o < size.outer; ++o)
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t at = o * size.length * size.inner + block * kBlock;
      run_block<Op>(size, in + at, out + at, std::min(kBlock, size.inner - block * kBlock));
    }
}

// ---- sorting ----------------------------------------------------------------------------------------------

// A float as a number that is ordered as torch orders floats: NaN last.
inline uint32_t to_key(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if (x != x) return 0xffffffffu;
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
inline float from_key(uint32_t key) {
  if (key == 0xffffffffu) return std::numeric_limits<float>::quiet_NaN();
  const uint32_t bits = key >> 31 ? key & 0x7fffffffu : ~key;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

constexpr int64_t kShort = 256;  // below it counting digits does not pay
constexpr int kDigit = 11;

// By digits of 11 bits, the lowest first.
inline void sort_keys(std::vector<uint32_t>& keys, std::vector<uint32_t>& room) {
  if (int64_t(keys.size()) < kShort) return std::sort(keys.begin(), keys.end());
  constexpr uint32_t mask = (1u << kDigit) - 1;
  for (int shift = 0; shift < 32; shift += kDigit) {
    uint32_t starts[mask + 2] = {};
    for (uint32_t key : keys) ++starts[((key >> shift) & mask) + 1];
    for (uint32_t digit = 0; digit < mask; ++digit) starts[digit + 1] += starts[digit];
    for (uint32_t key : keys) room[starts[(key >> shift) & mask]++] = key;
    std::swap(keys, room);
  }
}

// Each line in ascending order.
inline void sort_lines(LineSize size, const float* in, float* out) {
#pragma omp parallel
  {
    std::vector<uint32_t> keys(size.length), room(size.length);
#pragma omp for collapse(2) schedule(static)
    for (int64_t o = 0; o < size.outer; ++o)
      for (int64_t k = 0; k < size.inner; ++k) {
        const int64_t at = o * size.length * size.inner + k;
        for (int64_t i = 0; i < size.length; ++i) keys[i] = to_key(in[at + i * size.inner]);
        sort_keys(keys, room);
        for (int64_t i = 0; i < size.length; ++i) out[at + i * size.inner] = from_key(keys[i]);
      }
  }
}

}  // namespace vec
