// Binds functions on torch tensors to Python: `EXPORT_TORCH_FUNCTION(relu);`.
//
// Arguments: torch::Tensor (by value or const&), double, float, int64_t, int, bool. The result is a
// torch::Tensor or void. Tensors are shared with Python, not copied; an exception becomes Python's.
#pragma once

#include <ATen/DLConvertor.h>
#include <torch/types.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <type_traits>
#include <vector>

namespace torch_binding {

template <typename T>
inline constexpr bool is_tensor = std::is_same_v<std::decay_t<T>, at::Tensor>;

template <typename T>
using Foreign = std::conditional_t<is_tensor<T>, tvm::ffi::TensorView, std::decay_t<T>>;

template <typename T>
std::decay_t<T> from_foreign(Foreign<T> value) {
  if constexpr (is_tensor<T>) {
    const DLDevice place = value.device();
    const at::Device device = place.device_type == kDLCUDA ? at::Device(at::kCUDA, place.device_id) : at::kCPU;
    const at::IntArrayRef sizes(value.shape().data(), value.ndim()), strides(value.strides().data(), value.ndim());
    void* data = static_cast<char*>(value.data_ptr()) + value.byte_offset();
    const auto options = at::TensorOptions().device(device).dtype(at::toScalarType(value.dtype()));
    return at::from_blob(data, sizes, strides, options);
  } else {
    return value;
  }
}

template <typename Result, typename... Arguments>
auto bind(Result (*function)(Arguments...)) {
  static_assert(std::is_void_v<Result> || is_tensor<Result>, "return one torch::Tensor, or void");
  return [function](Foreign<Arguments>... arguments) {
    if constexpr (std::is_void_v<Result>) {
      function(from_foreign<Arguments>(arguments)...);
    } else {
      at::Tensor result = function(from_foreign<Arguments>(arguments)...);
      return tvm::ffi::Tensor::FromDLPack(at::toDLPack(result));
    }
  };
}

}  // namespace torch_binding

#define EXPORT_TORCH_FUNCTION_AS(name, function) \
  TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, torch_binding::bind(&::function))
#define EXPORT_TORCH_FUNCTION(name) EXPORT_TORCH_FUNCTION_AS(name, name)
