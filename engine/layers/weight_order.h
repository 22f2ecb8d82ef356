// Weights between the order of files (PyTorch's) and the order in memory. Pure functions.
#pragma once

#include "engine/layers/layer.h"

namespace moil {

// Both copy spec.dims.elements() values; from and to must not overlap.
void to_memory_order(const WeightSpec& spec, const float* file, float* memory);
void to_file_order(const WeightSpec& spec, const float* memory, float* file);

}  // namespace moil
