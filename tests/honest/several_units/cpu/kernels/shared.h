#pragma once
#include <cstdint>
extern const float kZero;
void relu_range(const float* in, float* out, int64_t n);
