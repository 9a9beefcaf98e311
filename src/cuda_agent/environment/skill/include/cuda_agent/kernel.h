// Binds C++ and CUDA functions to Python: `import kernels; kernels.scale(x, y, 2.0)`.
//
//     #include <cuda_agent/kernel.h>
//
//     void scale(kernel::Tensor x, kernel::Tensor y, double factor) {
//       const float* in = x.data<float>();
//       float* out = y.data<float>();
//       for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] * float(factor);
//     }
//     EXPORT_KERNEL(scale, scale);
//
// Arguments: kernel::Tensor (by value or const&), double, float, int64_t, int, bool. The result is
// void: outputs are tensors made in Python and passed in. A wrong argument count, type, dtype or
// device, `kernel::check(...)`, a thrown std::exception and a CUDA launch failure each become a
// Python exception that says what is wrong.
//
// Only TVM-FFI's C interface is included, so that a kernel compiles in a fraction of a second.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <tvm/ffi/c_api.h>

#include <exception>
#include <type_traits>

extern "C" void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

// Forward declarations, so that data<__half>() is checked without including cuda_fp16.h here.
struct __half;
struct __nv_bfloat16;

namespace kernel {

// An error with a readable message, turned into a Python exception of the given kind.
class Error : public std::exception {
 public:
  template <typename... Parts>
  Error(const char* kind, const char* format, Parts... parts) : kind_(kind) {
    snprintf(message_, sizeof message_, format, parts...);
  }
  const char* kind() const noexcept { return kind_; }
  const char* what() const noexcept override { return message_; }

 private:
  const char* kind_;
  char message_[384];
};

// kernel::check(x.size(0) == y.size(0), "x has %lld rows, y has %lld", a, b): ValueError when false.
template <typename... Parts>
inline void check(bool holds, const char* format, Parts... parts) {
  if (!holds) throw Error("ValueError", format, parts...);
}
inline void check(bool holds, const char* message) {
  if (!holds) throw Error("ValueError", "%s", message);
}

namespace detail {

constexpr int kAnyCode = -1;

// DLPack code and bits of a C++ element type; kAnyCode where the type says nothing about the dtype
// (vector types such as float4: only their alignment is checked).
template <typename T>
struct ElementType {
  static constexpr int code = std::is_integral_v<T>         ? (std::is_signed_v<T> ? kDLInt : kDLUInt)
                              : std::is_floating_point_v<T> ? kDLFloat
                                                            : kAnyCode;
  static constexpr int bits = code == kAnyCode ? 0 : int(8 * sizeof(T));
  static constexpr uint64_t alignment = alignof(T);
};
template <>
struct ElementType<bool> {
  static constexpr int code = kDLBool, bits = 8;
  static constexpr uint64_t alignment = 1;
};
template <>
struct ElementType<__half> {
  static constexpr int code = kDLFloat, bits = 16;
  static constexpr uint64_t alignment = 2;
};
template <>
struct ElementType<__nv_bfloat16> {
  static constexpr int code = kDLBfloat, bits = 16;
  static constexpr uint64_t alignment = 2;
};
template <>
struct ElementType<void> {
  static constexpr int code = kAnyCode, bits = 0;
  static constexpr uint64_t alignment = 1;
};

inline const char* code_name(int code) {
  switch (code) {
    case kDLInt: return "int";
    case kDLUInt: return "uint";
    case kDLFloat: return "float";
    case kDLBfloat: return "bfloat";
    case kDLComplex: return "complex";
    case kDLBool: return "bool";
    default: return "dtype-code-";
  }
}

inline const char* device_name(int device_type) {
  switch (device_type) {
    case kDLCPU: return "cpu";
    case kDLCUDA: return "cuda";
    case kDLCUDAHost: return "cpu (pinned)";
    default: return "another device";
  }
}

// uint16_t also reads float16 and bfloat16 as raw bits; uint8_t also reads bool.
inline bool dtype_fits(DLDataType dtype, int code, int bits) {
  if (code == kAnyCode) return true;
  if (dtype.bits != bits || dtype.lanes != 1) return false;
  return dtype.code == code || (code == kDLUInt && bits == 16) ||
         (code == kDLUInt && bits == 8 && dtype.code == kDLBool);
}

// Where this target's tensors live. The build says so; by default what nvcc compiles is CUDA.
#if defined(CUDA_AGENT_TARGET_CUDA) || defined(__CUDACC__)
constexpr int kTargetDevice = kDLCUDA;
#else
constexpr int kTargetDevice = kDLCPU;
#endif

}  // namespace detail

// A view of a torch tensor: it owns nothing and is valid during the call.
class Tensor {
 public:
  explicit Tensor(const DLTensor* view) : view_(view) {}

  // Pointer to the first element, after checking dtype, alignment and device. T may be const;
  // vector types (float4, __m256) check alignment only, void checks the device only.
  template <typename T>
  T* data() const {
    using Element = detail::ElementType<std::remove_cv_t<T>>;
    if (view_->device.device_type != detail::kTargetDevice) {
      throw Error("ValueError", "tensor is on %s, this kernel needs it on %s",
                  detail::device_name(view_->device.device_type), detail::device_name(detail::kTargetDevice));
    }
    if (!detail::dtype_fits(view_->dtype, Element::code, Element::bits)) {
      throw Error("TypeError", "tensor has dtype %s%d, data<T>() asks for %s%d",
                  detail::code_name(view_->dtype.code), int(view_->dtype.bits),
                  detail::code_name(Element::code), Element::bits);
    }
    void* pointer = raw();
    if (reinterpret_cast<uintptr_t>(pointer) % Element::alignment != 0) {
      throw Error("ValueError", "tensor's address is not a multiple of %d bytes", int(Element::alignment));
    }
    return static_cast<T*>(pointer);
  }

  // Pointer to the first element, unchecked.
  void* raw() const { return static_cast<char*>(view_->data) + view_->byte_offset; }

  int ndim() const { return view_->ndim; }
  // Length of a dimension; negative counts from the last.
  int64_t size(int dimension) const { return view_->shape[wrap(dimension)]; }
  // Step of a dimension, in elements; negative counts from the last.
  int64_t stride(int dimension) const {
    const int wrapped = wrap(dimension);
    if (view_->strides != nullptr) return view_->strides[wrapped];
    int64_t step = 1;
    for (int d = view_->ndim - 1; d > wrapped; --d) step *= view_->shape[d];
    return step;
  }
  int64_t numel() const {
    int64_t count = 1;
    for (int d = 0; d < view_->ndim; ++d) count *= view_->shape[d];
    return count;
  }
  bool is_contiguous() const {
    if (view_->strides == nullptr) return true;
    int64_t expected = 1;
    for (int d = view_->ndim - 1; d >= 0; --d) {
      if (view_->shape[d] != 1 && view_->strides[d] != expected) return numel() == 0;
      expected *= view_->shape[d];
    }
    return true;
  }
  bool is_cpu() const { return view_->device.device_type == kDLCPU; }
  bool is_cuda() const { return view_->device.device_type == kDLCUDA; }
  int device_index() const { return view_->device.device_id; }
  int element_bytes() const { return (view_->dtype.bits * view_->dtype.lanes + 7) / 8; }
  bool is_float32() const { return is(kDLFloat, 32); }
  bool is_float64() const { return is(kDLFloat, 64); }
  bool is_float16() const { return is(kDLFloat, 16); }
  bool is_bfloat16() const { return is(kDLBfloat, 16); }

 private:
  bool is(int code, int bits) const { return view_->dtype.code == code && view_->dtype.bits == bits; }
  int wrap(int dimension) const {
    const int wrapped = dimension < 0 ? dimension + view_->ndim : dimension;
    if (wrapped < 0 || wrapped >= view_->ndim) {
      throw Error("IndexError", "dimension %d of a tensor with %d dimensions", dimension, view_->ndim);
    }
    return wrapped;
  }
  const DLTensor* view_;
};

#if defined(__CUDACC__) || defined(__CUDA_RUNTIME_API_H__)
// The stream that torch is using on the tensor's device: launch every kernel on it.
inline cudaStream_t stream(const Tensor& tensor) {
  check(tensor.is_cuda(), "kernel::stream needs a tensor on cuda");
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, tensor.device_index()));
}
#endif

namespace detail {

inline const char* argument_name(int32_t type_index) {
  switch (type_index) {
    case kTVMFFINone: return "None";
    case kTVMFFIInt: return "int";
    case kTVMFFIBool: return "bool";
    case kTVMFFIFloat: return "float";
    case kTVMFFIDLTensorPtr:
    case kTVMFFITensor: return "a tensor";
    case kTVMFFIRawStr:
    case kTVMFFISmallStr:
    case kTVMFFIStr: return "str";
    case kTVMFFIDataType: return "a dtype";
    case kTVMFFIDevice: return "a device";
    case kTVMFFIShape: return "a shape";
    case kTVMFFIArray:
    case kTVMFFIList: return "a list or tuple";
    default: return "an object that kernels do not take";
  }
}

[[noreturn]] inline void refuse(int position, const char* wanted, const TVMFFIAny& got) {
  throw Error("TypeError", "argument %d must be %s, got %s", position + 1, wanted,
              argument_name(got.type_index));
}

// Reads one argument as a T.
template <typename T>
T read(const TVMFFIAny& value, int position) {
  const int32_t kind = value.type_index;
  if constexpr (std::is_same_v<T, Tensor>) {
    if (kind == kTVMFFIDLTensorPtr) return Tensor(static_cast<const DLTensor*>(value.v_ptr));
    if (kind == kTVMFFITensor) return Tensor(reinterpret_cast<const DLTensor*>(value.v_obj + 1));
    refuse(position, "a tensor", value);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (kind == kTVMFFIBool || kind == kTVMFFIInt) return value.v_int64 != 0;
    refuse(position, "bool", value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (kind == kTVMFFIFloat) return T(value.v_float64);
    if (kind == kTVMFFIInt || kind == kTVMFFIBool) return T(value.v_int64);
    refuse(position, "float", value);
  } else {
    static_assert(std::is_integral_v<T>, "kernel arguments are kernel::Tensor, double, int64_t or bool");
    if (kind != kTVMFFIInt && kind != kTVMFFIBool) refuse(position, "int", value);
    const T narrow = T(value.v_int64);
    if (int64_t(narrow) != value.v_int64) {
      throw Error("ValueError", "argument %d: %lld does not fit a %d-byte integer", position + 1,
                  static_cast<long long>(value.v_int64), int(sizeof(T)));
    }
    return narrow;
  }
}

template <int... Positions>
struct Indices {};
template <int Count, int... Positions>
struct MakeIndices : MakeIndices<Count - 1, Count - 1, Positions...> {};
template <int... Positions>
struct MakeIndices<0, Positions...> {
  using type = Indices<Positions...>;
};

template <typename... Arguments, int... Positions>
void call(void (*function)(Arguments...), const TVMFFIAny* values, int32_t count, Indices<Positions...>) {
  if (count != int32_t(sizeof...(Arguments))) {
    throw Error("TypeError", "takes %d arguments, got %d", int(sizeof...(Arguments)), int(count));
  }
  (void)values;
  function(read<std::remove_cv_t<std::remove_reference_t<Arguments>>>(values[Positions], Positions)...);
#if defined(__CUDACC__) || defined(__CUDA_RUNTIME_API_H__)
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw Error("RuntimeError", "CUDA error %d: %s", int(error), cudaGetErrorString(error));
  }
#endif
}

inline int raise(const char* kind, const char* name, const char* message) {
  const char* parts[] = {"kernels.", name, ": ", message};
  TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 4);
  return -1;
}

template <typename... Arguments>
int guarded_call(const char* name, void (*function)(Arguments...), const TVMFFIAny* values, int32_t count) {
  try {
    call(function, values, count, typename MakeIndices<int(sizeof...(Arguments))>::type{});
    return 0;
  } catch (const Error& error) {
    return raise(error.kind(), name, error.what());
  } catch (const std::exception& error) {
    return raise("RuntimeError", name, error.what());
  }
}

}  // namespace detail
}  // namespace kernel

// Makes `function` callable from Python as `kernels.python_name`. At namespace scope, once a name.
// Its parameters are named so that they hide no function of the user.
#define EXPORT_KERNEL(python_name, function)                                                          \
  extern "C" __attribute__((visibility("default"))) int __tvm_ffi_##python_name(                      \
      void*, const TVMFFIAny* cuda_agent_values_, int32_t cuda_agent_count_,                          \
      TVMFFIAny* cuda_agent_result_) {                                                                \
    cuda_agent_result_->type_index = kTVMFFINone;                                                     \
    cuda_agent_result_->zero_padding = 0;                                                             \
    cuda_agent_result_->v_int64 = 0;                                                                  \
    return ::kernel::detail::guarded_call(#python_name, function, cuda_agent_values_,                 \
                                          cuda_agent_count_);                                         \
  }                                                                                                   \
  static_assert(true, "")
