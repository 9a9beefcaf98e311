// gelu(x @ w.T + b): the product by cuBLAS in TF32, the rest in a kernel.
#include <cublas_v2.h>
#include <cuda_agent/kernel.h>

__global__ void bias_gelu(float* y, const float* b, int64_t count, int64_t units) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const float value = y[i] + b[i % units];
  y[i] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}

void linear_gelu(kernel::Tensor x, kernel::Tensor w, kernel::Tensor b, kernel::Tensor y) {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) cublasCreate(&handle);
  const int rows = int(x.size(0)), columns = int(x.size(1)), units = int(w.size(0));
  const float one = 1, zero = 0;
  cublasSetStream(handle, kernel::stream(x));
  cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, units, rows, columns, &one, w.data<float>(), CUDA_R_32F, columns,
               x.data<float>(), CUDA_R_32F, columns, &zero, y.data<float>(), CUDA_R_32F, units,
               CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
  const int64_t count = y.numel();
  bias_gelu<<<unsigned((count + 255) / 256), 256, 0, kernel::stream(x)>>>(y.data<float>(), b.data<float>(), count, units);
}
EXPORT_KERNEL(linear_gelu, linear_gelu);
