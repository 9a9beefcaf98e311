// Stands before pybind11's own header of this name.
#pragma once

#include <pybind11/pybind11.h>
