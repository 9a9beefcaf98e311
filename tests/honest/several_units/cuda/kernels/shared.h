#pragma once
#include <cstdint>
#include <cuda_runtime.h>
void relu_range(const float* in, float* out, int64_t n, cudaStream_t stream);
