// Stands before torch's own header of this name, as `torch/extension.h` does.
#pragma once

#include <torch/types.h>
