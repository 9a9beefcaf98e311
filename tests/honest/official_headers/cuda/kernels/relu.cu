#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

__global__ void relu_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.f);
}

void relu(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  const int64_t n = x.size(0) * x.size(1);
  const DLDevice device = x.device();
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
  relu_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(static_cast<const float*>(x.data_ptr()), static_cast<float*>(y.data_ptr()), n);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(relu, relu);
