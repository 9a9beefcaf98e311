#pragma once
#include "operators.cuh"
#include <cstdint>

template <int kEach, typename Operator, typename T>
__global__ void map_kernel(const T* __restrict__ in, T* __restrict__ out, int64_t n, Operator apply) {
  const int64_t start = (blockIdx.x * int64_t(blockDim.x)) * kEach + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int64_t i = start + k * int64_t(blockDim.x);
    if (i < n) out[i] = apply(in[i]);
  }
}
