// Vectors of W elements for the CPU: loads, stores and elementary functions with float32 accuracy.
// Every function also exists for scalars, so that the same expression serves a row and an element.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace vec {

#define VEC_INLINE inline __attribute__((always_inline))
#define VEC_LAMBDA __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif

typedef float F32 __attribute__((vector_size(W * 4)));
typedef int32_t I32 __attribute__((vector_size(W * 4)));  // also truth values: 0 or -1
typedef double F64 __attribute__((vector_size(W * 8)));
typedef int64_t I64 __attribute__((vector_size(W * 8)));

// How many elements of a vector count: all, or the first n at the end of a row.
struct Whole {
  static constexpr int n = W;
};
struct Part {
  int n;
};

// ---- splat, select, compare -------------------------------------------------------------------------------

VEC_INLINE F32 splat(float x) { return x - F32{}; }
VEC_INLINE F64 splat(double x) { return x - F64{}; }
VEC_INLINE I64 splat(int64_t x) { return x - I64{}; }
VEC_INLINE I32 splat(bool x) { return (x ? -1 : 0) - I32{}; }

VEC_INLINE F32 select(I32 c, F32 a, F32 b) { return c ? a : b; }
VEC_INLINE I32 select(I32 c, I32 a, I32 b) { return c ? a : b; }
VEC_INLINE F64 select(I32 c, F64 a, F64 b) { return __builtin_convertvector(c, I64) ? a : b; }
VEC_INLINE I64 select(I32 c, I64 a, I64 b) { return __builtin_convertvector(c, I64) ? a : b; }
template <class T>
VEC_INLINE T select(bool c, T a, T b) {
  return c ? a : b;
}

VEC_INLINE I32 truth(I32 c) { return c; }
VEC_INLINE I32 truth(I64 c) { return __builtin_convertvector(c, I32); }
VEC_INLINE bool truth(bool c) { return c; }

#define VEC_COMPARE(name, sign)                                                        \
  template <class T>                                                                   \
  VEC_INLINE auto name(T a, T b) {                                                     \
    return truth(a sign b);                                                            \
  }
VEC_COMPARE(eq, ==)
VEC_COMPARE(ne, !=)
VEC_COMPARE(lt, <)
VEC_COMPARE(le, <=)
VEC_COMPARE(gt, >)
VEC_COMPARE(ge, >=)
#undef VEC_COMPARE

VEC_INLINE I32 both(I32 a, I32 b) { return a & b; }
VEC_INLINE I32 either(I32 a, I32 b) { return a | b; }
VEC_INLINE I32 differ(I32 a, I32 b) { return a ^ b; }
VEC_INLINE I32 invert(I32 a) { return ~a; }
VEC_INLINE bool both(bool a, bool b) { return a && b; }
VEC_INLINE bool either(bool a, bool b) { return a || b; }
VEC_INLINE bool differ(bool a, bool b) { return a != b; }
VEC_INLINE bool invert(bool a) { return !a; }

// NaN wins, as it does in torch.
template <class T>
VEC_INLINE T maximum(T a, T b) {
  return select(ne(a, a), a, select(gt(a, b), a, b));
}
template <class T>
VEC_INLINE T minimum(T a, T b) {
  return select(ne(a, a), a, select(lt(a, b), a, b));
}
// Directly: through a narrowed comparison GCC 12 folds the least integer wrongly.
VEC_INLINE I64 maximum(I64 a, I64 b) { return a > b ? a : b; }
VEC_INLINE I64 minimum(I64 a, I64 b) { return a < b ? a : b; }
VEC_INLINE I32 maximum(I32 a, I32 b) { return a | b; }
VEC_INLINE I32 minimum(I32 a, I32 b) { return a & b; }
template <class T>
VEC_INLINE auto isnan(T a) {
  return ne(a, a);
}

// ---- conversions ------------------------------------------------------------------------------------------

VEC_INLINE F32 to_f32(F32 x) { return x; }
VEC_INLINE F32 to_f32(F64 x) { return __builtin_convertvector(x, F32); }
VEC_INLINE F32 to_f32(I64 x) { return __builtin_convertvector(x, F32); }
VEC_INLINE F32 to_f32(I32 x) { return x ? splat(1.0f) : splat(0.0f); }
VEC_INLINE F64 to_f64(F32 x) { return __builtin_convertvector(x, F64); }
VEC_INLINE F64 to_f64(I64 x) { return __builtin_convertvector(x, F64); }
VEC_INLINE F64 to_f64(I32 x) { return select(x, splat(1.0), splat(0.0)); }
VEC_INLINE I64 to_i64(F32 x) { return __builtin_convertvector(x, I64); }
VEC_INLINE I64 to_i64(F64 x) { return __builtin_convertvector(x, I64); }
VEC_INLINE I64 to_i64(I32 x) { return -__builtin_convertvector(x, I64); }
template <class T>
VEC_INLINE I32 to_bool(T x) {
  return ne(x, T{});
}
template <class T>
VEC_INLINE float to_f32(T x) {
  return static_cast<float>(x);
}
template <class T>
VEC_INLINE double to_f64(T x) {
  return static_cast<double>(x);
}
template <class T>
VEC_INLINE int64_t to_i64(T x) {
  return static_cast<int64_t>(x);
}
VEC_INLINE bool to_bool(float x) { return x != 0; }
VEC_INLINE bool to_bool(double x) { return x != 0; }
VEC_INLINE bool to_bool(int64_t x) { return x != 0; }

VEC_INLINE F32 as_float(I32 x) { return (F32)x; }
VEC_INLINE I32 as_int(F32 x) { return (I32)x; }

// ---- memory -----------------------------------------------------------------------------------------------

template <class T>
struct Raw {
  typedef T type __attribute__((vector_size(W * sizeof(T)), aligned(sizeof(T)), may_alias));
};

// Between int32 and narrower integers: some compilers take these apart lane by lane unless told how.
#if defined(__AVX512F__)
VEC_INLINE I32 from_bytes(Raw<uint8_t>::type x) { return (I32)_mm512_cvtepu8_epi32((__m128i)x); }
VEC_INLINE I32 from_shorts(Raw<uint16_t>::type x) { return (I32)_mm512_cvtepu16_epi32((__m256i)x); }
VEC_INLINE Raw<uint16_t>::type to_shorts(I32 x) { return (Raw<uint16_t>::type)_mm512_cvtepi32_epi16((__m512i)x); }
VEC_INLINE Raw<uint8_t>::type to_bytes(I32 x) { return (Raw<uint8_t>::type)_mm512_cvtepi32_epi8((__m512i)x); }
#elif defined(__AVX2__)
VEC_INLINE I32 from_bytes(Raw<uint8_t>::type x) {
  int64_t bits;
  std::memcpy(&bits, &x, 8);
  return (I32)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bits));
}
VEC_INLINE I32 from_shorts(Raw<uint16_t>::type x) { return (I32)_mm256_cvtepu16_epi32((__m128i)x); }
VEC_INLINE Raw<uint16_t>::type to_shorts(I32 x) {
  __m256i low = _mm256_and_si256((__m256i)x, _mm256_set1_epi32(0xffff));
  __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
  return (Raw<uint16_t>::type)_mm256_castsi256_si128(packed);
}
VEC_INLINE Raw<uint8_t>::type to_bytes(I32 x) {
  auto shorts = (__m128i)to_shorts(x & 0xff);
  int64_t bits = _mm_cvtsi128_si64(_mm_packus_epi16(shorts, shorts));
  Raw<uint8_t>::type bytes;
  std::memcpy(&bytes, &bits, 8);
  return bytes;
}
#else
VEC_INLINE I32 from_bytes(Raw<uint8_t>::type x) { return __builtin_convertvector(x, I32); }
VEC_INLINE I32 from_shorts(Raw<uint16_t>::type x) { return __builtin_convertvector(x, I32); }
VEC_INLINE Raw<uint16_t>::type to_shorts(I32 x) { return __builtin_convertvector(x, Raw<uint16_t>::type); }
VEC_INLINE Raw<uint8_t>::type to_bytes(I32 x) { return __builtin_convertvector(x, Raw<uint8_t>::type); }
#endif

VEC_INLINE F32 widen(Raw<float>::type x, float) { return x; }
VEC_INLINE F64 widen(Raw<double>::type x, double) { return x; }
VEC_INLINE I64 widen(Raw<int64_t>::type x, int64_t) { return x; }
VEC_INLINE I64 widen(Raw<int32_t>::type x, int32_t) { return __builtin_convertvector(x, I64); }
VEC_INLINE I64 widen(Raw<int16_t>::type x, int16_t) { return __builtin_convertvector(x, I64); }
VEC_INLINE I64 widen(Raw<int8_t>::type x, int8_t) { return __builtin_convertvector(x, I64); }
VEC_INLINE I64 widen(Raw<uint8_t>::type x, uint8_t) { return __builtin_convertvector(x, I64); }
VEC_INLINE I32 widen(Raw<uint8_t>::type x, bool) { return from_bytes(x) != 0; }

// bfloat16 and float16 as they lie in memory.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

VEC_INLINE F32 widen(Raw<uint16_t>::type x, Bf16) {
  return as_float(from_shorts(x) << 16);
}
VEC_INLINE Raw<uint16_t>::type to_bf16(F32 x) {
  I32 bits = as_int(x);
  I32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  rounded = (x != x) ? (I32{} + 0x7fc0) : rounded;
  return to_shorts(rounded);
}
VEC_INLINE F32 widen(Raw<uint16_t>::type x, F16) {
  I32 h = from_shorts(x);
  I32 sign = (h & 0x8000) << 16, rest = h & 0x7fff;
  F32 finite = as_float(rest << 13) * splat(0x1p112f);
  F32 value = rest >= 0x7c00 ? as_float((rest << 13) | 0x7f800000) : finite;
  return as_float(as_int(value) | sign);
}
VEC_INLINE Raw<uint16_t>::type to_f16(F32 x) {
  I32 sign = (as_int(x) >> 16) & 0x8000, bits = as_int(x) & 0x7fffffff;
  F32 size = as_float(bits);
  I32 normal = (bits - 0x38000000 + 0xfff + ((bits >> 13) & 1)) >> 13;
  I32 small = as_int(size + splat(0.5f)) - 0x3f000000;
  I32 half = size < splat(0x1p-14f) ? small : normal;
  half = size >= splat(65520.0f) ? (I32{} + 0x7c00) : half;
  half = (x != x) ? (I32{} + 0x7e00) : half;
  return to_shorts(half | sign);
}

VEC_INLINE F32 round_bfloat16(F32 x) { return widen(to_bf16(x), Bf16{}); }
VEC_INLINE F32 round_float16(F32 x) { return widen(to_f16(x), F16{}); }
VEC_INLINE float round_bfloat16(float x) { return round_bfloat16(splat(x))[0]; }
VEC_INLINE float round_float16(float x) { return round_float16(splat(x))[0]; }

template <class T>
struct Memory {
  typedef T type;
};
template <>
struct Memory<bool> {
  typedef uint8_t type;
};
template <>
struct Memory<Bf16> {
  typedef uint16_t type;
};
template <>
struct Memory<F16> {
  typedef uint16_t type;
};

// A run of W neighbours; of the last part of a row only n elements are touched, the others read as zero.
template <class T>
VEC_INLINE auto load(const T* p, Whole) {
  typedef typename Raw<typename Memory<T>::type>::type Block;
  return widen(*reinterpret_cast<const Block*>(p), T{});
}
template <class T>
VEC_INLINE auto load(const T* p, Part part) {
  typename Raw<typename Memory<T>::type>::type block{};
  std::memcpy(&block, p, part.n * sizeof(T));
  return widen(block, T{});
}
// Elements that lie `step` apart.
template <class T, class P>
VEC_INLINE auto gather(const T* p, int64_t step, P part) {
  alignas(64) T block[W] = {};
  for (int k = 0; k < part.n; ++k) block[k] = p[k * step];
  return load(block, Whole{});
}
// Elements at positions that were computed.
template <class T, class P>
VEC_INLINE auto lookup(const T* p, I64 position, P part) {
  alignas(64) T block[W] = {};
  for (int k = 0; k < part.n; ++k) block[k] = p[position[k]];
  return load(block, Whole{});
}
// start, start + step, ...
VEC_INLINE I64 count_from(int64_t start, int64_t step) {
  I64 lanes;
  for (int k = 0; k < W; ++k) lanes[k] = start + k * step;
  return lanes;
}
template <class T>
VEC_INLINE auto load_one(const T* p) {
  return load(p, Part{1})[0];
}
VEC_INLINE bool load_one(const bool* p) { return *p; }

VEC_INLINE Raw<float>::type narrow(F32 x, float) { return x; }
VEC_INLINE Raw<double>::type narrow(F64 x, double) { return x; }
VEC_INLINE Raw<int64_t>::type narrow(I64 x, int64_t) { return x; }
template <class T>
VEC_INLINE typename Raw<T>::type narrow(I64 x, T) {
  return __builtin_convertvector(x, typename Raw<T>::type);
}
VEC_INLINE Raw<uint8_t>::type narrow(I32 x, bool) {
  return to_bytes(x & 1);
}
VEC_INLINE Raw<uint16_t>::type narrow(F32 x, Bf16) { return to_bf16(x); }
VEC_INLINE Raw<uint16_t>::type narrow(F32 x, F16) { return to_f16(x); }

template <class T, class V>
VEC_INLINE void store(T* p, V value, Whole) {
  typedef typename Raw<typename Memory<T>::type>::type Block;
  *reinterpret_cast<Block*>(p) = narrow(value, T{});
}
template <class T, class V>
VEC_INLINE void store(T* p, V value, Part part) {
  auto block = narrow(value, T{});
  std::memcpy(p, &block, part.n * sizeof(T));
}
template <class T, class V, class P>
VEC_INLINE void scatter(T* p, int64_t step, V value, P part) {
  auto block = narrow(value, T{});
  T lanes[W];
  std::memcpy(lanes, &block, sizeof lanes);
  for (int k = 0; k < part.n; ++k) p[k * step] = lanes[k];
}
template <class T, class S>
VEC_INLINE void store_one(T* p, S value) {
  store(p, splat(value), Part{1});
}

// A store that goes past the cache: the output is not read back, and its old lines need not be fetched.
// Falls back to a plain store where p is not aligned to the vector's size in memory.
template <class T, class V>
VEC_INLINE void stream(T* p, V value, Whole) {
  auto block = narrow(value, T{});
  if (__builtin_expect(reinterpret_cast<uintptr_t>(p) % sizeof block != 0, 0)) return store(p, value, Whole{});
#if defined(__AVX512F__)
  if constexpr (sizeof block == 64) {
    __m512i raw;
    std::memcpy(&raw, &block, 64);
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(p), raw);
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof block == 32) {
    __m256i raw;
    std::memcpy(&raw, &block, 32);
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(p), raw);
  }
#endif
#if defined(__SSE2__)
  if constexpr (sizeof block == 16) {
    __m128i raw;
    std::memcpy(&raw, &block, 16);
    return _mm_stream_si128(reinterpret_cast<__m128i*>(p), raw);
  }
#endif
  store(p, value, Whole{});
}
template <class T, class V>
VEC_INLINE void stream(T* p, V value, Part part) {
  store(p, value, part);
}
VEC_INLINE void finish_streams() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
// Ask for the cache line of an element that is needed soon; the address may lie beyond the tensor.
template <class T>
VEC_INLINE void prefetch(const T* p) {
  __builtin_prefetch(reinterpret_cast<const void*>(p), 0, 3);
}

// ---- reductions -------------------------------------------------------------------------------------------

template <class V>
VEC_INLINE V keep(V value, V, Whole) {
  return value;
}
// Lanes beyond the end of a row get the neutral element.
template <class V>
VEC_INLINE V keep(V value, V neutral, Part part) {
  for (int k = part.n; k < W; ++k) value[k] = neutral[k];
  return value;
}

struct Sum {
  template <class T>
  VEC_INLINE T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <class T>
  VEC_INLINE T operator()(T a, T b) const { return a * b; }
};
struct Largest {
  template <class T>
  VEC_INLINE T operator()(T a, T b) const { return maximum(a, b); }
};
struct Smallest {
  template <class T>
  VEC_INLINE T operator()(T a, T b) const { return minimum(a, b); }
};

// Combine U accumulators, then their lanes, in a fixed order.
template <class R, int U, class V>
VEC_INLINE auto combine(const V (&parts)[U]) {
  V total = parts[0];
  for (int k = 1; k < U; ++k) total = R{}(total, parts[k]);
  alignas(64) decltype(total[0] + total[0]) lanes[W];
  for (int k = 0; k < W; ++k) lanes[k] = total[k];
  for (int half = W / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) lanes[k] = R{}(lanes[k], lanes[k + half]);
  return lanes[0];
}

// Walk over n elements, U vectors at a time; body(accumulator, position, part).
template <int U, class Body, int... K>
VEC_INLINE void repeat(Body& body, int64_t j, std::integer_sequence<int, K...>) {
  (body(std::integral_constant<int, K>{}, j + K * W, Whole{}), ...);
}
template <int U, class Body>
VEC_INLINE void walk(int64_t n, Body body) {
  int64_t j = 0;
  for (; j + U * W <= n; j += U * W) repeat<U>(body, j, std::make_integer_sequence<int, U>{});
  for (; j + W <= n; j += W) body(std::integral_constant<int, 0>{}, j, Whole{});
  if (j < n) body(std::integral_constant<int, 0>{}, j, Part{static_cast<int>(n - j)});
}

}  // namespace vec
