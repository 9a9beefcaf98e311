// Functions that are computed in float64 one by one, for both targets; included after vec_math.h or device.h.
#pragma once

#include <cmath>
#include <limits>

#if defined(DEVICE)
#define SPECIAL DEVICE
#else
#define SPECIAL inline
#endif

namespace special {

constexpr double kPi = 3.141592653589793;

// The logarithm's asymptotic series from 8 on, the recurrence below it, the reflection below zero.
SPECIAL double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double result = 0;
  if (x < 0) {
    const double rest = x - std::trunc(x);
    if (rest == 0) return std::numeric_limits<double>::quiet_NaN();
    result = -kPi / std::tan(kPi * rest);
    x = 1 - x;
  }
  for (; x < 8; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  double series = 1.0 / 132;
  series = series * z - 1.0 / 240;
  series = series * z + 1.0 / 252;
  series = series * z - 1.0 / 120;
  series = series * z + 1.0 / 12;
  return result + std::log(x) - 0.5 / x - series * z;
}

// A first guess from the logarithm, then Newton's steps with the derivative 2 / sqrt(pi) * exp(-y^2).
SPECIAL double erfinv(double x) {
  if (!(std::fabs(x) < 1)) {
    const double end = std::copysign(std::numeric_limits<double>::infinity(), x);
    return std::fabs(x) == 1 ? end : std::numeric_limits<double>::quiet_NaN();
  }
  const double fall = std::log1p(-x * x), half = 2 / (kPi * 0.147) + fall / 2;
  double y = std::copysign(std::sqrt(std::sqrt(half * half - fall / 0.147) - half), x);
  for (int step = 0; step < 3; ++step) {
    const double miss = x < 0 ? std::erfc(-y) - (1 + x) : (1 - x) - std::erfc(y);
    const double slope = 1.1283791670955126 * std::exp(-y * y);
    const double move = miss / slope;
    y -= move / (1 + y * move);
  }
  return y;
}

// The power series in (x / 2)^2 up to 16, the asymptotic one beyond.
SPECIAL double i0(double x) {
  const double a = std::fabs(x);
  double term = 1, sum = 1;
  if (a <= 16) {
    const double z = a * a / 4;
    for (int k = 1; k < 48; ++k) sum += term *= z / (double(k) * k);
    return sum;
  }
  for (int k = 1; k < 16; ++k) sum += term *= (2.0 * k - 1) * (2.0 * k - 1) / (8.0 * k * a);
  return std::exp(a) / std::sqrt(2 * kPi * a) * sum;
}

}  // namespace special

#if defined(DEVICE)
#define SPECIAL_LANES(name, formula)                  \
  DEVICE double name##_of(double x) { return formula; } \
  DEVICE float name##_of(float x) { return float(name##_of(double(x))); }
#else
#define SPECIAL_LANES(name, formula)                                \
  namespace vec {                                                   \
  VEC_INLINE double name(double x) { return formula; }              \
  VEC_INLINE float name(float x) { return float(name(double(x))); } \
  template <class V>                                                \
  VEC_INLINE V name(V x) {                                          \
    for (int k = 0; k < W; ++k) x[k] = name(x[k]);                  \
    return x;                                                       \
  }                                                                 \
  }
#endif
SPECIAL_LANES(lgamma, ::lgamma(x))
SPECIAL_LANES(digamma, special::digamma(x))
SPECIAL_LANES(erfinv, special::erfinv(x))
SPECIAL_LANES(i0, special::i0(x))
#undef SPECIAL_LANES
