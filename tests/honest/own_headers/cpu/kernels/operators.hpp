#pragma once
#include <type_traits>

namespace operators {
template <typename T>
struct Relu {
  static_assert(std::is_floating_point_v<T>);
  T operator()(T x) const { return x > T(0) ? x : T(0); }
};
template <template <typename> class... Each>
struct Composed;
template <template <typename> class First>
struct Composed<First> {
  template <typename T>
  static T run(T x) { return First<T>{}(x); }
};
template <template <typename> class First, template <typename> class... Rest>
struct Composed<First, Rest...> {
  template <typename T>
  static T run(T x) { return Composed<Rest...>::run(First<T>{}(x)); }
};
}  // namespace operators
