#include "engine/io/onnx/element_type.h"

#include "base/error.h"

namespace moil::onnx {

bool is_float(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble ||
         type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

ElementType cast_type(const Node& node) {
  const auto type = static_cast<ElementType>(node.integer("to", 0));
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kBool:
    case ElementType::kFloat16:
    case ElementType::kDouble:
    case ElementType::kUint32:
    case ElementType::kUint64:
    case ElementType::kBfloat16:
      return type;
  }
  throw Error(ErrorCode::kBadData, node.label() + ": its attribute \"to\" is " +
                                       std::to_string(node.integer("to", 0)) +
                                       ", which is no type of numbers that is supported");
}

}  // namespace moil::onnx
