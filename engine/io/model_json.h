// Model descriptions as JSON (docs/model-format.md).
//
// Strict: unknown or repeated keys, wrong types and unknown versions are errors that name the JSON
// pointer. What a layer's properties mean is not judged here but by the layers, and whether the
// names connect by graph/graph.h. Writing is stable: what was read is written the same, whatever
// order and spacing the file had, and writing that again changes nothing. Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/model/model_description.h"

namespace moil {

inline constexpr int kModelFormatVersion = 1;

// `where` begins the messages: a file's name. Throws kBadData.
[[nodiscard]] ModelDescription parse_model(std::string_view json,
                                           const std::string& where = "model");

// One line a layer. kInvalidArgument if it cannot be said in JSON (not UTF-8, not finite).
[[nodiscard]] std::string format_model(const ModelDescription& model);

// The same for files: kNotFound, kIo, kResourceExhausted (above 16 MiB) from the system. Writing
// replaces the file atomically.
[[nodiscard]] ModelDescription read_model(const std::filesystem::path& path);
void write_model(const std::filesystem::path& path, const ModelDescription& model);

}  // namespace moil
