// Matrix products in float32 through cuBLAS.
#pragma once

#include <cublas_v2.h>
#include <cuda_agent/kernel.h>

#include <cstdint>

// How a row-major matrix lies in memory: packed along its rows, or along its columns.
struct Library {
  cublasOperation_t operation;
  int stride;        // elements from one row (or column) to the next
  int64_t distance;  // elements from one matrix of a batch to the next
};

inline void check_library(cublasStatus_t status) {
  kernel::check(status == CUBLAS_STATUS_SUCCESS, "cuBLAS answers with status %d", int(status));
}

// Row-major out = left @ right is column-major out^T = right^T @ left^T. CUBLAS_DEFAULT_MATH keeps TF32 out.
static void multiply_by_library(cudaStream_t stream, cublasMath_t math, int batch, int rows, int cols, int depth,
                                const float* left, Library a, const float* right, Library b, float* out) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made;
    check_library(cublasCreate(&made));
    return made;
  }();
  const float one = 1, zero = 0;
  check_library(cublasSetStream(handle, stream));
  check_library(cublasSetMathMode(handle, math));
  check_library(cublasSgemmStridedBatched(handle, b.operation, a.operation, cols, rows, depth, &one, right, b.stride,
                                          b.distance, left, a.stride, a.distance, &zero, out, cols,
                                          int64_t(rows) * cols, batch));
}
