// What layers ask of their inputs' shapes. All throw kInvalidArgument saying what was found and
// what was expected; the graph adds the layer's name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/tensor/spec.h"

namespace moil {

[[noreturn]] void fail_shape(const std::string& what);

void require_inputs(std::span<const TensorInfo> inputs, std::size_t count);
void require_at_least(std::span<const TensorInfo> inputs, std::size_t count);
// Every input has the dims of the first.
void require_same_dims(std::span<const TensorInfo> inputs);
// Rank 4, channels-last.
void require_image(const TensorInfo& info);

// Two axes or more, plain layout; gives the size of the last.
std::int64_t require_rows(const TensorInfo& info);

// The axis that is last in memory: the channels of an image, otherwise the last dimension.
std::int64_t channels_of(const TensorInfo& info);
// All elements, seen as rows of channels_of() each.
std::int64_t rows_of(const TensorInfo& info);

}  // namespace moil
