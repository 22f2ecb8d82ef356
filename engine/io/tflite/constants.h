// The numbers of a tensor in a TensorFlow Lite file. Quantised ones become the floats that they
// mean.
#pragma once

#include <string>

#include "engine/io/onnx/onnx_graph.h"
#include "tflite_generated.h"

namespace moil::tflite {

// "tensor \"NAME\"".
[[nodiscard]] std::string label_of(const file::Tensor& tensor);

[[nodiscard]] std::vector<std::int64_t> dims_of(const file::Tensor& tensor);

[[nodiscard]] bool is_quantised(const file::Tensor& tensor);

// Null if the tensor is none, but computed.
[[nodiscard]] const file::Buffer* numbers_of(const file::Model& model, const file::Tensor& tensor);

// kBadData if the numbers do not fit the dims, kUnimplemented for their type.
[[nodiscard]] onnx::Tensor constant_of(const file::Tensor& tensor, const file::Buffer& buffer);

}  // namespace moil::tflite
