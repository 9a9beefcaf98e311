// Elementary functions on vectors of float32, each within about two units in the last place.
// The polynomials are minimax fits of the function that the comment names.
#pragma once

#include "vec.h"

namespace vec {

// ---- bounds: a NaN passes through -------------------------------------------------------------------------

#if defined(__AVX512F__)
VEC_INLINE F32 at_most(F32 x, float bound) { return (F32)_mm512_min_ps((__m512)splat(bound), (__m512)x); }
VEC_INLINE F32 at_least(F32 x, float bound) { return (F32)_mm512_max_ps((__m512)splat(bound), (__m512)x); }
#elif defined(__AVX2__)
VEC_INLINE F32 at_most(F32 x, float bound) { return (F32)_mm256_min_ps((__m256)splat(bound), (__m256)x); }
VEC_INLINE F32 at_least(F32 x, float bound) { return (F32)_mm256_max_ps((__m256)splat(bound), (__m256)x); }
#else
VEC_INLINE F32 at_most(F32 x, float bound) { return x > splat(bound) ? splat(bound) : x; }
VEC_INLINE F32 at_least(F32 x, float bound) { return x < splat(bound) ? splat(bound) : x; }
#endif

// ---- exact or nearly so -----------------------------------------------------------------------------------

VEC_INLINE F32 absolute(F32 x) { return as_float(as_int(x) & 0x7fffffff); }

#if defined(__AVX512F__)
VEC_INLINE F32 root(F32 x) { return (F32)_mm512_sqrt_ps((__m512)x); }
VEC_INLINE F32 nearest(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, 8); }
VEC_INLINE F32 floor(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, 9); }
VEC_INLINE F32 ceil(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, 10); }
VEC_INLINE F32 trunc(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, 11); }
#elif defined(__AVX2__)
VEC_INLINE F32 root(F32 x) { return (F32)_mm256_sqrt_ps((__m256)x); }
VEC_INLINE F32 nearest(F32 x) { return (F32)_mm256_round_ps((__m256)x, 8); }
VEC_INLINE F32 floor(F32 x) { return (F32)_mm256_round_ps((__m256)x, 9); }
VEC_INLINE F32 ceil(F32 x) { return (F32)_mm256_round_ps((__m256)x, 10); }
VEC_INLINE F32 trunc(F32 x) { return (F32)_mm256_round_ps((__m256)x, 11); }
#else
#define VEC_LANES(name, call)                                 \
  VEC_INLINE F32 name(F32 x) {                                \
    for (int k = 0; k < W; ++k) x[k] = call(x[k]);            \
    return x;                                                 \
  }
VEC_LANES(root, std::sqrt)
VEC_LANES(nearest, std::nearbyint)
VEC_LANES(floor, std::floor)
VEC_LANES(ceil, std::ceil)
VEC_LANES(trunc, std::trunc)
#undef VEC_LANES
#endif

VEC_INLINE F32 sqrt(F32 x) { return root(x); }
VEC_INLINE F32 rsqrt(F32 x) { return splat(1.0f) / root(x); }
VEC_INLINE F32 reciprocal(F32 x) { return splat(1.0f) / x; }
VEC_INLINE F32 round(F32 x) { return nearest(x); }

// ---- exponentials -----------------------------------------------------------------------------------------

// e^x as 2^n * e^r with |r| <= ln(2)/2. Adding `shift` rounds x * log2(e) to a whole number, whose last bits
// become the exponent of 2^(n-1): below -87.2 it is zero, and the last doubling overflows where it should.
VEC_INLINE F32 exp(F32 x) {
  constexpr float shift = 0x1.8p23f + 126.0f;
  F32 bounded = at_most(at_least(x, -87.5f), 89.0f);
  F32 shifted = bounded * splat(1.44269504f) + splat(shift);
  F32 n = shifted - splat(shift);
  F32 r = bounded - n * splat(0.693359375f);
  r = r - n * splat(-2.12194440e-4f);
  F32 q = splat(0.00139374915f);
  q = q * r + splat(0.00836895593f);
  q = q * r + splat(0.0416664369f);
  q = q * r + splat(0.166665182f);
  q = q * r + splat(0.5f);
  F32 e = q * (r * r) + r + splat(1.0f);
  return e * as_float(as_int(shifted) << 23) * splat(2.0f);
}

VEC_INLINE F32 expm1(F32 x) {
  F32 q = splat(2.49491386e-05f);
  q = q * x + splat(0.000199650502f);
  q = q * x + splat(0.00138886424f);
  q = q * x + splat(0.00833317451f);
  q = q * x + splat(0.0416666679f);
  q = q * x + splat(0.166666672f);
  F32 small = q * (x * x * x) + (x * x * splat(0.5f) + x);
  return absolute(x) < splat(0.5f) ? small : exp(x) - splat(1.0f);
}

VEC_INLINE F32 sigmoid(F32 x) { return splat(1.0f) / (splat(1.0f) + exp(-x)); }

// tanh(x) = x * p(x^2) / q(x^2), which reaches 1 in float32 before |x| = 9.
VEC_INLINE F32 tanh(F32 x) {
  x = at_most(at_least(x, -9.0f), 9.0f);
  F32 z = x * x;
  F32 p = splat(1.31844083e-08f);
  p = p * z + splat(2.04719834e-05f);
  p = p * z + splat(0.00348659212f);
  p = p * z + splat(0.133732067f);
  p = p * z + splat(0.999999906f);
  F32 q = splat(7.70274469e-07f);
  q = q * z + splat(0.000327140143f);
  q = q * z + splat(0.0258420191f);
  q = q * z + splat(0.467065035f);
  q = q * z + splat(1.0f);
  return x * p / q;
}

// erf(x) = x * p(x^2) / q(x^2), which reaches 1 in float32 before |x| = 3.95.
VEC_INLINE F32 erf(F32 x) {
  x = at_most(at_least(x, -3.95f), 3.95f);
  F32 z = x * x;
  F32 p = splat(2.01177117e-06f);
  p = p * z + splat(0.000287595187f);
  p = p * z + splat(0.00391710768f);
  p = p * z + splat(0.0532064181f);
  p = p * z + splat(0.194030882f);
  p = p * z + splat(1.12837901f);
  F32 q = splat(3.78397199e-05f);
  q = q * z + splat(0.00119814836f);
  q = q * z + splat(0.0152702853f);
  q = q * z + splat(0.115588758f);
  q = q * z + splat(0.505286882f);
  q = q * z + splat(1.0f);
  return x * p / q;
}

// ---- logarithms -------------------------------------------------------------------------------------------

// log(1 + f) + n * ln(2) for 1 + f between the square roots of 1/2 and 2.
VEC_INLINE F32 log_near_one(F32 f, F32 n) {
  F32 q = splat(-0.0784538835f);
  q = q * f + splat(0.128769994f);
  q = q * f + splat(-0.131316632f);
  q = q * f + splat(0.141818628f);
  q = q * f + splat(-0.16624333f);
  q = q * f + splat(0.200022668f);
  q = q * f + splat(-0.250008166f);
  q = q * f + splat(0.333333164f);
  F32 z = f * f;
  F32 rest = q * (z * f) + n * splat(-2.12194440e-4f) - z * splat(0.5f);
  return n * splat(0.693359375f) + (rest + f);
}

VEC_INLINE F32 log(F32 x) {
  I32 tiny = x < splat(1.17549435e-38f);
  F32 scaled = tiny ? x * splat(0x1p24f) : x;
  I32 bits = as_int(scaled), offset = bits - 0x3f3504f3;
  F32 n = __builtin_convertvector(offset >> 23, F32) - (tiny ? splat(24.0f) : splat(0.0f));
  F32 m = as_float((offset & 0x7fffff) + 0x3f3504f3);
  F32 value = log_near_one(m - splat(1.0f), n);
  constexpr float inf = std::numeric_limits<float>::infinity();
  value = x == splat(inf) ? x : value;
  value = x == splat(0.0f) ? splat(-inf) : value;
  return x >= splat(0.0f) ? value : splat(std::numeric_limits<float>::quiet_NaN());
}

// With 1 + x = 2^n * m, m - 1 is (2^-n - 1) + 2^-n * x, in which nothing of a small x is lost.
VEC_INLINE F32 log1p(F32 x) {
  F32 u = x + splat(1.0f);
  I32 offset = as_int(u) - 0x3f3504f3, whole = offset >> 23;
  F32 scale = as_float((127 - whole) << 23);
  F32 value = log_near_one((scale - splat(1.0f)) + scale * x, __builtin_convertvector(whole, F32));
  constexpr float inf = std::numeric_limits<float>::infinity();
  value = x == splat(inf) ? x : value;
  value = x == splat(-1.0f) ? splat(-inf) : value;
  return x >= splat(-1.0f) ? value : splat(std::numeric_limits<float>::quiet_NaN());
}

// ---- inverse circular functions ---------------------------------------------------------------------------

VEC_INLINE F32 with_sign(F32 size, F32 of) { return as_float(as_int(size) | (as_int(of) & 0x80000000)); }

// atan(t) = t + t^3 * q(t^2) for 0 <= t <= 1.
VEC_INLINE F32 atan_of_fraction(F32 t) {
  F32 z = t * t;
  F32 q = splat(-0.0017936177f);
  q = q * z + splat(0.010914589f);
  q = q * z + splat(-0.031177815f);
  q = q * z + splat(0.057957564f);
  q = q * z + splat(-0.08403449f);
  q = q * z + splat(0.10952185f);
  q = q * z + splat(-0.14264241f);
  q = q * z + splat(0.19998549f);
  q = q * z + splat(-0.333333f);
  return t + t * z * q;
}
VEC_INLINE F32 right_angle_minus(F32 x) { return splat(1.57079637f) - (x + splat(4.37113883e-08f)); }
VEC_INLINE F32 atan(F32 x) {
  F32 a = absolute(x);
  I32 far = a > splat(1.0f);
  F32 r = atan_of_fraction(far ? splat(1.0f) / a : a);
  return with_sign(far ? right_angle_minus(r) : r, x);
}
VEC_INLINE F32 atan2(F32 y, F32 x) {
  F32 a = absolute(x), b = absolute(y);
  I32 steep = b > a;
  F32 high = steep ? b : a, low = steep ? a : b;
  F32 t = low == high ? (high == splat(0.0f) ? high : splat(1.0f)) : low / high;
  F32 r = atan_of_fraction(t);
  r = steep ? right_angle_minus(r) : r;
  r = as_int(x) < 0 ? splat(3.14159274f) - (r + splat(8.74227766e-08f)) : r;
  return ((x != x) | (y != y)) ? x + y : with_sign(r, y);
}
// asin(s) = s + s^3 * q(s^2) up to 1/2; above it asin(a) = pi/2 - 2 * asin(sqrt((1 - a) / 2)).
VEC_INLINE F32 asin_of_half(F32 s, F32 z) {
  F32 q = splat(0.042166334f);
  q = q * z + splat(0.024179501f);
  q = q * z + splat(0.04547038f);
  q = q * z + splat(0.074952975f);
  q = q * z + splat(0.16666752f);
  return s + s * z * q;
}
VEC_INLINE F32 asin(F32 x) {
  F32 a = absolute(x);
  I32 far = a > splat(0.5f);
  F32 z = far ? (splat(1.0f) - a) * splat(0.5f) : a * a;
  F32 p = asin_of_half(far ? root(z) : a, z);
  return with_sign(far ? right_angle_minus(p + p) : p, x);
}
VEC_INLINE F32 acos(F32 x) {
  F32 a = absolute(x);
  I32 far = a > splat(0.5f);
  F32 z = far ? (splat(1.0f) - a) * splat(0.5f) : a * a;
  F32 p = asin_of_half(far ? root(z) : a, z);
  F32 wide = x < splat(0.0f) ? splat(3.14159274f) - (p + p + splat(8.74227766e-08f)) : p + p;
  return far ? wide : right_angle_minus(with_sign(p, x));
}

// ---- lane by lane -----------------------------------------------------------------------------------------

// In float64, where a quotient below 2^29 times the divisor is exact; the rest goes to the library.
VEC_INLINE F32 fmod(F32 x, F32 y) {
  F64 a = __builtin_convertvector(absolute(x), F64), b = __builtin_convertvector(absolute(y), F64), q = a / b;
  bool is_plain = true;
  for (int k = 0; k < W; ++k) is_plain = is_plain & (q[k] < 0x1p29) & (b[k] < 0x1p200);
  if (__builtin_expect(!is_plain, 0)) {
    for (int k = 0; k < W; ++k) x[k] = std::fmod(x[k], y[k]);
    return x;
  }
  F64 rest = a - __builtin_convertvector(__builtin_convertvector(q, I32), F64) * b;
  rest = rest < 0 ? rest + b : rest;
  rest = rest >= b ? rest - b : rest;
  return with_sign(__builtin_convertvector(rest, F32), x);
}
VEC_INLINE F32 pow(F32 x, F32 y) {
  for (int k = 0; k < W; ++k) x[k] = std::pow(x[k], y[k]);
  return x;
}

// sin and cos by reduction to |r| <= pi/4; arguments beyond 8192 go to the library, lane by lane.
VEC_INLINE F32 sin_of_quadrant(F32 x, int shift) {
  F32 n = nearest(x * splat(0.636619772f));
  F32 r = x - n * splat(1.5703125f);
  r = r - n * splat(4.83751297e-4f);
  r = r - n * splat(7.54978995e-8f);
  F32 z = r * r;
  F32 s = splat(2.8290624e-06f);
  s = s * z + splat(-0.000198526977f);
  s = s * z + splat(0.00833337847f);
  s = s * z + splat(-0.166666672f);
  s = s * z * r + r;
  F32 c = splat(2.44329676e-05f);
  c = c * z + splat(-0.0013887313f);
  c = c * z + splat(0.0416666456f);
  c = c * z * z + (splat(1.0f) - z * splat(0.5f));
  I32 quadrant = __builtin_convertvector(n, I32) + shift;
  F32 value = (quadrant & 1) != 0 ? c : s;
  return as_float(as_int(value) ^ ((quadrant & 2) << 30));
}
VEC_INLINE bool any_beyond(F32 x, float bound) {
  I32 far = (absolute(x) > splat(bound)) | (x != x);
  int32_t seen = 0;
  for (int k = 0; k < W; ++k) seen |= far[k];
  return seen != 0;
}
VEC_INLINE F32 sin(F32 x) {
  if (__builtin_expect(any_beyond(x, 8192.0f), 0)) {
    for (int k = 0; k < W; ++k) x[k] = std::sin(x[k]);
    return x;
  }
  return sin_of_quadrant(x, 0);
}
VEC_INLINE F32 cos(F32 x) {
  if (__builtin_expect(any_beyond(x, 8192.0f), 0)) {
    for (int k = 0; k < W; ++k) x[k] = std::cos(x[k]);
    return x;
  }
  return sin_of_quadrant(x, 1);
}

// ---- float64 and integers, lane by lane; and scalars ------------------------------------------------------

VEC_INLINE I64 absolute(I64 x) { return x < 0 ? -x : x; }
VEC_INLINE float absolute(float x) { return std::fabs(x); }
VEC_INLINE double absolute(double x) { return std::fabs(x); }
VEC_INLINE int64_t absolute(int64_t x) { return x < 0 ? -x : x; }
VEC_INLINE F64 absolute(F64 x) { return x < 0 ? -x : x; }

#define VEC_SCALAR(name, formula)                             \
  VEC_INLINE float name(float x) { return formula; }          \
  VEC_INLINE double name(double x) { return formula; }        \
  VEC_INLINE F64 name(F64 v) {                                \
    for (int k = 0; k < W; ++k) {                             \
      double x = v[k];                                        \
      v[k] = formula;                                         \
    }                                                         \
    return v;                                                 \
  }
VEC_SCALAR(sqrt, std::sqrt(x))
VEC_SCALAR(rsqrt, 1 / std::sqrt(x))
VEC_SCALAR(reciprocal, 1 / x)
VEC_SCALAR(floor, std::floor(x))
VEC_SCALAR(ceil, std::ceil(x))
VEC_SCALAR(round, std::nearbyint(x))
VEC_SCALAR(trunc, std::trunc(x))
VEC_SCALAR(exp, std::exp(x))
VEC_SCALAR(expm1, std::expm1(x))
VEC_SCALAR(log, std::log(x))
VEC_SCALAR(log1p, std::log1p(x))
VEC_SCALAR(tanh, std::tanh(x))
VEC_SCALAR(sigmoid, 1 / (1 + std::exp(-x)))
VEC_SCALAR(erf, std::erf(x))
VEC_SCALAR(sin, std::sin(x))
VEC_SCALAR(cos, std::cos(x))
VEC_SCALAR(atan, std::atan(x))
VEC_SCALAR(asin, std::asin(x))
VEC_SCALAR(acos, std::acos(x))
#undef VEC_SCALAR

#define VEC_OF_TWO(name)                                          \
  VEC_INLINE float name(float x, float y) { return std::name(x, y); }    \
  VEC_INLINE double name(double x, double y) { return std::name(x, y); } \
  VEC_INLINE F64 name(F64 x, F64 y) {                                    \
    for (int k = 0; k < W; ++k) x[k] = std::name(x[k], y[k]);            \
    return x;                                                            \
  }
VEC_OF_TWO(pow)
VEC_OF_TWO(atan2)
VEC_OF_TWO(fmod)
#undef VEC_OF_TWO
VEC_INLINE I64 fmod(I64 x, I64 y) { return x % y; }
VEC_INLINE int64_t fmod(int64_t x, int64_t y) { return x % y; }

// An index that was read from memory: negative ones count from the end, and none leaves the tensor.
VEC_INLINE int64_t pick(int64_t i, int64_t bound) {
  i = i < 0 ? i + bound : i;
  return i < 0 ? 0 : i >= bound ? bound - 1 : i;
}
VEC_INLINE I64 pick(I64 i, int64_t bound) {
  i = i < 0 ? i + bound : i;
  return i < 0 ? I64{} : i >= bound ? I64{} + (bound - 1) : i;
}

}  // namespace vec
