// float16 for the emulator, through the processor's own conversions.
#pragma once
#include <immintrin.h>

#include <cstdint>
struct __half {
  uint16_t bits;
};
inline float __half2float(__half x) { return _cvtsh_ss(x.bits); }
inline __half __float2half_rn(float x) { return {_cvtss_sh(x, 0)}; }
