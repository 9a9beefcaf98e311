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

// ---- lane by lane -----------------------------------------------------------------------------------------

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
#undef VEC_SCALAR

VEC_INLINE float pow(float x, float y) { return std::pow(x, y); }
VEC_INLINE double pow(double x, double y) { return std::pow(x, y); }
VEC_INLINE F64 pow(F64 x, F64 y) {
  for (int k = 0; k < W; ++k) x[k] = std::pow(x[k], y[k]);
  return x;
}

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
