// Stands before torch's own header of this name: tensors and checks, without the Python bindings and
// layers that a kernel must not use, and which double the time of a build.
#pragma once

#include <torch/types.h>
