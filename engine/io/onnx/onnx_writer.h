// Writing ONNX files: plain data to protobuf. Floats are written as they are in memory, so that
// reading gives the same bits. Thread-safe.
#pragma once

#include <filesystem>
#include <string>

#include "engine/io/onnx/onnx_graph.h"

namespace moil::onnx {

// kResourceExhausted above what one file can hold (2 GiB).
[[nodiscard]] std::string format_onnx(const Graph& graph);

// Replaces the file atomically.
void write_onnx(const std::filesystem::path& path, const Graph& graph);

}  // namespace moil::onnx
