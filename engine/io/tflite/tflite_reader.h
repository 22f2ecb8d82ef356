// Reading TensorFlow Lite files: as the ONNX graph that means the same, which import_onnx()
// (engine/io/onnx/onnx_import.h) makes a model of.
//
// Operators become nodes of ONNX's, channels turned to where these have them; the import takes the
// turning away again. Quantised tensors become the floats that they stand for; nothing is rounded
// where the file rounds. FlatBuffers' verifier sees every byte before it is used. Errors name the
// file and the tensor or operator: kNotFound, kIo, kBadData (not TensorFlow Lite, truncated,
// numbers that contradict each other), kUnimplemented (operators, element types, subgraphs, sparse
// tensors).
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::tflite {

// At most kMaxFileBytes, which is what FlatBuffers can hold.
inline constexpr std::uintmax_t kMaxFileBytes = (std::uintmax_t{1} << 31) - 1;

// By its identifier.
[[nodiscard]] bool is_tflite(const std::filesystem::path& path);

[[nodiscard]] onnx::Graph read_tflite(const std::filesystem::path& path);
// `where` begins the messages.
[[nodiscard]] onnx::Graph parse_tflite(std::span<const std::uint8_t> bytes,
                                       const std::string& where = "model");

}  // namespace moil::tflite
