// The part of cuBLAS that emitted kernels use, for the emulator: loops, as the documentation defines them.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE = 7 };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TF32_TENSOR_OP_MATH = 3 };
using cublasHandle_t = int;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) { return *handle = 0, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }

inline cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                                                int n, int k, const float* alpha, const float* a, int lda,
                                                int64_t distance_a, const float* b, int ldb, int64_t distance_b,
                                                const float* beta, float* c, int ldc, int64_t distance_c, int count) {
  const bool is_valid = lda >= (of_a == CUBLAS_OP_N ? m : k) && ldb >= (of_b == CUBLAS_OP_N ? k : n) && ldc >= m;
  if (!is_valid) return CUBLAS_STATUS_INVALID_VALUE;
  for (int64_t batch = 0; batch < count; ++batch) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const float left = a[batch * distance_a + (of_a == CUBLAS_OP_N ? i + l * lda : l + i * lda)];
          const float right = b[batch * distance_b + (of_b == CUBLAS_OP_N ? l + j * ldb : j + l * ldb)];
          sum += double(left) * right;
        }
        float& to = c[batch * distance_c + i + j * ldc];
        to = float(*alpha * sum + (*beta == 0 ? 0 : *beta * to));
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
