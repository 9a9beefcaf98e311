// Stands for the released work folder's header of this name: the exports are written when it is built.
#pragma once

#include <pybind11/pybind11.h>

#define REGISTER_BINDING(name, function) [[maybe_unused]] static constexpr auto registered_##name = &function
