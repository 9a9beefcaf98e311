#pragma once
#include "./config.h"
#include "../kernels/operators.hpp"
#include <cstdint>

template <typename Operator, typename T>
void map(const T* __restrict in, T* __restrict out, int64_t n) {
  _Pragma("omp parallel for simd schedule(static)")
  for (int64_t i = 0; i < n; ++i) out[i] = Operator::run(in[i]);
}
