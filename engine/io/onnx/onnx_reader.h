// Reading ONNX files: protobuf to plain data, with every size checked before memory is taken.
//
// Weights may lie in files of their own (external data) if those are in the model's folder. Errors
// name the file and the tensor or node: kNotFound, kIo, kBadData (not ONNX, truncated, sizes that
// contradict each other), kUnimplemented (element types, subgraphs, sparse tensors).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

// At most kMaxFileBytes, which is what protobuf can hold.
inline constexpr std::uintmax_t kMaxFileBytes = (std::uintmax_t{1} << 31) - 1;
inline constexpr int kMaxNodes = 100'000;

[[nodiscard]] Graph read_onnx(const std::filesystem::path& path);

// The same of bytes in memory; external data is then refused. `where` begins the messages.
[[nodiscard]] Graph parse_onnx(std::string_view bytes, const std::string& where = "model");

}  // namespace moil::onnx
