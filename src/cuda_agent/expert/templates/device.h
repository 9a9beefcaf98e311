// What fused CUDA kernels are made of: packed loads and stores, reductions, and functions on one element.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#define DEVICE __device__ __forceinline__

// ---- one element ------------------------------------------------------------------------------------------

DEVICE float to_f32(float x) { return x; }
DEVICE float to_f32(double x) { return static_cast<float>(x); }
DEVICE float to_f32(int64_t x) { return static_cast<float>(x); }
DEVICE float to_f32(bool x) { return x ? 1.0f : 0.0f; }
DEVICE double to_f64(float x) { return x; }
DEVICE double to_f64(double x) { return x; }
DEVICE double to_f64(int64_t x) { return static_cast<double>(x); }
DEVICE double to_f64(bool x) { return x ? 1.0 : 0.0; }
DEVICE int64_t to_i64(float x) { return static_cast<int64_t>(x); }
DEVICE int64_t to_i64(double x) { return static_cast<int64_t>(x); }
DEVICE int64_t to_i64(bool x) { return x ? 1 : 0; }
DEVICE bool to_bool(float x) { return x != 0.0f; }
DEVICE bool to_bool(double x) { return x != 0.0; }
DEVICE bool to_bool(int64_t x) { return x != 0; }

// From memory to the lane in which a value is computed with, and back.
DEVICE float widen(float x) { return x; }
DEVICE float widen(__half x) { return __half2float(x); }
DEVICE float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
DEVICE double widen(double x) { return x; }
DEVICE int64_t widen(int64_t x) { return x; }
DEVICE int64_t widen(int32_t x) { return x; }
DEVICE int64_t widen(int16_t x) { return x; }
DEVICE int64_t widen(int8_t x) { return x; }
DEVICE int64_t widen(uint8_t x) { return x; }
DEVICE bool widen(bool x) { return x; }
template <class T, class S>
DEVICE T narrow(S x) {
  return static_cast<T>(x);
}
template <>
DEVICE __half narrow<__half, float>(float x) {
  return __float2half_rn(x);
}
template <>
DEVICE __nv_bfloat16 narrow<__nv_bfloat16, float>(float x) {
  return __float2bfloat16_rn(x);
}

DEVICE float round_bfloat16_of(float x) { return __bfloat162float(__float2bfloat16_rn(x)); }
DEVICE float round_float16_of(float x) { return __half2float(__float2half_rn(x)); }

template <class T>
DEVICE T select(bool c, T a, T b) {
  return c ? a : b;
}
#define DEVICE_COMPARE(name, sign)          \
  template <class T>                        \
  DEVICE bool name(T a, T b) {              \
    return a sign b;                        \
  }
DEVICE_COMPARE(eq, ==)
DEVICE_COMPARE(ne, !=)
DEVICE_COMPARE(lt, <)
DEVICE_COMPARE(le, <=)
DEVICE_COMPARE(gt, >)
DEVICE_COMPARE(ge, >=)
#undef DEVICE_COMPARE
DEVICE bool both(bool a, bool b) { return a && b; }
DEVICE bool either(bool a, bool b) { return a || b; }
DEVICE bool differ(bool a, bool b) { return a != b; }
DEVICE bool invert(bool a) { return !a; }
template <class T>
DEVICE bool is_nan(T a) {
  return a != a;
}

// NaN wins, as it does in torch; the device has an instruction for it.
template <class T>
DEVICE T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
DEVICE T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
#if defined(__CUDA_ARCH__)
DEVICE float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
DEVICE float minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
#endif
DEVICE bool maximum(bool a, bool b) { return a || b; }
DEVICE bool minimum(bool a, bool b) { return a && b; }

// Within one unit in the last place; a number beyond 2^126 counts as infinite, one below 2^-126 as zero.
DEVICE float quick_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}
DEVICE float divide(float a, float b) { return a * quick_inverse(b); }
DEVICE double divide(double a, double b) { return a / b; }

#define DEVICE_FUNCTION(name, single, twofold)       \
  DEVICE float name##_of(float x) { return single; } \
  DEVICE double name##_of(double x) { return twofold; }
DEVICE_FUNCTION(absolute, fabsf(x), fabs(x))
DEVICE_FUNCTION(sqrt, sqrtf(x), sqrt(x))
DEVICE_FUNCTION(rsqrt, 1.0f / sqrtf(x), 1.0 / sqrt(x))
DEVICE_FUNCTION(reciprocal, 1.0f / x, 1.0 / x)
DEVICE_FUNCTION(floor, floorf(x), floor(x))
DEVICE_FUNCTION(ceil, ceilf(x), ceil(x))
DEVICE_FUNCTION(round, rintf(x), rint(x))
DEVICE_FUNCTION(trunc, truncf(x), trunc(x))
// Between 0 and 1, where the logarithm of a sigmoid or of a sum of exponentials has its argument, a
// polynomial within 1.5e-7 at half the price of log1pf.
DEVICE float quick_log1p(float x) {
  if (!(x >= 0.0f && x <= 1.0f)) return log1pf(x);
  float p = -0.0032440233f;
  p = fmaf(p, x, 0.0198514536f);
  p = fmaf(p, x, -0.0569595173f);
  p = fmaf(p, x, 0.106036536f);
  p = fmaf(p, x, -0.153055921f);
  p = fmaf(p, x, 0.196759388f);
  p = fmaf(p, x, -0.249541342f);
  p = fmaf(p, x, 0.333299637f);
  p = fmaf(p, x, -0.499999017f);
  return x * fmaf(p, x, 1.0f);
}
#ifdef SIXTEEN_BITS
// Abramowitz and Stegun 7.1.26: within 1.5e-7 of erf, at half the price of erff.
DEVICE float quick_erf(float x) {
  const float a = fabsf(x);
  const float t = quick_inverse(fmaf(0.3275911f, a, 1.0f));
  const float p =
      t * fmaf(t, fmaf(t, fmaf(t, fmaf(t, 1.061405429f, -1.453152027f), 1.421413741f), -0.284496736f), 0.254829592f);
  return copysignf(fmaf(-p, __expf(-a * a), 1.0f), x);
}
DEVICE_FUNCTION(exp, __expf(x), exp(x))
DEVICE_FUNCTION(sigmoid, quick_inverse(1.0f + __expf(-x)), 1.0 / (1.0 + exp(-x)))
DEVICE_FUNCTION(erf, quick_erf(x), erf(x))
#else
DEVICE_FUNCTION(exp, expf(x), exp(x))
DEVICE_FUNCTION(sigmoid, quick_inverse(1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))
DEVICE_FUNCTION(erf, erff(x), erf(x))
#endif
DEVICE_FUNCTION(expm1, expm1f(x), expm1(x))
DEVICE_FUNCTION(log, logf(x), log(x))
DEVICE_FUNCTION(log1p, quick_log1p(x), log1p(x))
DEVICE_FUNCTION(tanh, tanhf(x), tanh(x))
DEVICE_FUNCTION(sin, sinf(x), sin(x))
DEVICE_FUNCTION(cos, cosf(x), cos(x))
DEVICE_FUNCTION(atan, atanf(x), atan(x))
DEVICE_FUNCTION(asin, asinf(x), asin(x))
DEVICE_FUNCTION(acos, acosf(x), acos(x))
#undef DEVICE_FUNCTION
DEVICE int64_t absolute_of(int64_t x) { return x < 0 ? -x : x; }
DEVICE float pow_of(float x, float y) { return powf(x, y); }
DEVICE double pow_of(double x, double y) { return pow(x, y); }
DEVICE float atan2_of(float y, float x) { return atan2f(y, x); }
DEVICE double atan2_of(double y, double x) { return atan2(y, x); }
DEVICE float fmod_of(float x, float y) { return fmodf(x, y); }
DEVICE double fmod_of(double x, double y) { return fmod(x, y); }
DEVICE int64_t fmod_of(int64_t x, int64_t y) { return x % y; }

// An index that was read from memory: negative ones count from the end, and none leaves the tensor.
DEVICE int64_t pick(int64_t i, int64_t bound) {
  i = i < 0 ? i + bound : i;
  return i < 0 ? 0 : i >= bound ? bound - 1 : i;
}

// ---- packs: V neighbours in one access --------------------------------------------------------------------

template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
  T at[V];
};
template <int Bytes>
struct Raw {  // wider than an access: several of them
  using type = uint4;
};
template <>
struct Raw<8> {
  using type = uint2;
};
template <>
struct Raw<4> {
  using type = unsigned int;
};
template <>
struct Raw<2> {
  using type = unsigned short;
};
template <>
struct Raw<1> {
  using type = unsigned char;
};

// `load` keeps lines in the cache for others, `load_once` and `store_once` let them go first.
#define DEVICE_LOAD(name, instruction)                                              \
  template <int V, class T>                                                         \
  DEVICE Pack<T, V> name(const T* p) {                                              \
    using R = typename Raw<sizeof(T) * V>::type;                                    \
    Pack<T, V> pack;                                                                \
    _Pragma("unroll") for (int k = 0; k < int(sizeof pack / sizeof(R)); ++k)        \
        reinterpret_cast<R*>(&pack)[k] = instruction(reinterpret_cast<const R*>(p) + k); \
    return pack;                                                                    \
  }
DEVICE_LOAD(load, __ldg)
DEVICE_LOAD(load_once, __ldcs)
#undef DEVICE_LOAD
template <int V, class T>
DEVICE void store(T* p, const Pack<T, V>& pack) {
  *reinterpret_cast<Pack<T, V>*>(p) = pack;
}
template <int V, class T>
DEVICE void store_once(T* p, const Pack<T, V>& pack) {
  using R = typename Raw<sizeof(T) * V>::type;
#pragma unroll
  for (int k = 0; k < int(sizeof pack / sizeof(R)); ++k)
    __stcs(reinterpret_cast<R*>(p) + k, reinterpret_cast<const R*>(&pack)[k]);
}

// ---- reductions -------------------------------------------------------------------------------------------

struct Sum {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Product {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};
struct Largest {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return maximum(a, b);
  }
};
struct Smallest {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return minimum(a, b);
  }
};

// The elements of one thread, as a tree.
template <class Op, class T, int V>
DEVICE T fold(const T (&parts)[V]) {
  T rest[V];
#pragma unroll
  for (int k = 0; k < V; ++k) rest[k] = parts[k];
#pragma unroll
  for (int half = V / 2; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < half; ++k) rest[k] = Op{}(rest[k], rest[k + half]);
  }
  return rest[0];
}

// The values of N neighbouring threads (a power of two); every one of them gets the result.
// Beyond a warp, N must be the whole block, and every thread of it must come by.
template <class Op, int N, class T>
DEVICE T gather_threads(T value) {
#pragma unroll
  for (int step = (N < 32 ? N : 32) / 2; step > 0; step /= 2)
    value = Op{}(value, __shfl_xor_sync(0xffffffffu, value, step));
  if constexpr (N > 32) {
    __shared__ T parts[N / 32];
    __syncthreads();  // the last reduction's parts have been read
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[threadIdx.x % (N / 32)];
#pragma unroll
    for (int step = N / 64; step > 0; step /= 2)  // at most 32 parts
      value = Op{}(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}

// The same where a row's threads are Rows apart: neighbours in a warp belong to neighbouring rows.
template <class Op, int N, int Rows, class T>
DEVICE T gather_across(T value) {
  if constexpr (N > 1) {
    __shared__ T parts[N][Rows];
    const int lane = threadIdx.x / Rows, row = threadIdx.x % Rows;
    __syncthreads();  // the last reduction's parts have been read
    parts[lane][row] = value;
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
      __syncthreads();
      if (lane < half) parts[lane][row] = Op{}(parts[lane][row], parts[lane + half][row]);
    }
    __syncthreads();
    value = parts[0][row];
  }
  return value;
}

// ---- host -------------------------------------------------------------------------------------------------

inline void check_aligned(const void* p, const char* name) {
  kernel::check(reinterpret_cast<uintptr_t>(p) % 16 == 0, "%s does not begin at a multiple of 16 bytes", name);
}
