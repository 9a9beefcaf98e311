// Stands before pybind11's own header: what a binding says is read from its source when it is built, and
// here it only has to compile. Nothing of Python is in it.
#pragma once

namespace pybind11 {

struct arg {
  explicit constexpr arg(const char*) {}
  template <typename Value>
  arg& operator=(const Value&) {
    return *this;
  }
};

struct module_ {
  template <typename... Arguments>
  module_& def(const Arguments&...) {
    return *this;
  }
};
using module = module_;

}  // namespace pybind11

namespace py = pybind11;
