// The types of a tensor's elements, by their numbers in ONNX.
#pragma once

#include <cstdint>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

enum class ElementType : std::int64_t {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

[[nodiscard]] bool is_float(ElementType type);

// What a Cast makes of its input. Throws kBadData naming the node for a type that is not above.
[[nodiscard]] ElementType cast_type(const Node& node);

}  // namespace moil::onnx
