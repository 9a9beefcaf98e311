#pragma once
#include <type_traits>

template <typename T>
struct Relu {
  static_assert(std::is_floating_point_v<T>);
  __device__ T operator()(T x) const { return x > T(0) ? x : T(0); }
};
