#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

void relu(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  TVM_FFI_CHECK(x.ndim() == 2 && y.ndim() == 2, ValueError) << "two dimensions wanted, got " << x.ndim();
  TVM_FFI_ICHECK_EQ(x.dtype().bits, 32);
  const float* in = static_cast<const float*>(x.data_ptr());
  float* out = static_cast<float*>(y.data_ptr());
  const int64_t n = x.size(0) * x.size(1);
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(relu, relu);
