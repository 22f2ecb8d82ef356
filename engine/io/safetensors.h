// Weights in the safetensors format: named tensors and a few words about them, in one file.
//
// Layout: 8 bytes, the header's length (little-endian); the header, a JSON object
//   {"__metadata__": {"key": "text"},
//    "stem.conv.weight": {"dtype": "F32", "shape": [8, 1, 3, 3], "data_offsets": [0, 288]}, ...}
// then the data, which the tensors cover without overlap, gap or rest. Reading checks all of that
// before it allocates, so a hostile file costs no more memory than its own size (twice for 16-bit
// floats). F32, BF16 and F16 are read, all into fp32; F32 is written.
//
// Errors: kBadData naming file and tensor; kNotFound, kIo, kResourceExhausted from the system.
// Thread-safe.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/safetensors/header.h"
#include "engine/model/model_description.h"

namespace moil {

using SafetensorsMetadata = std::map<std::string, std::string>;

struct Safetensors {
  WeightMap tensors;
  SafetensorsMetadata metadata;
};

[[nodiscard]] Safetensors read_safetensors(const std::filesystem::path& path);

// Replaces the file atomically, tensor by tensor without a second copy. Equal content gives equal
// bytes. kInvalidArgument if a tensor's data does not fit its dims or a name cannot be written.
void write_safetensors(const std::filesystem::path& path, const WeightMap& tensors,
                       const SafetensorsMetadata& metadata = {});
// The same of tensors that are asked for one after the other, so that one at a time is in memory.
void write_safetensors(const std::filesystem::path& path, const TensorShapes& shapes,
                       const std::function<NamedTensor(const std::string& name)>& read,
                       const SafetensorsMetadata& metadata = {});

}  // namespace moil
