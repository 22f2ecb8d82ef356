// The header of a safetensors file, checked whole: a length (u64), then JSON, which says of every
// tensor its element type, its shape, and where its data lies behind the header.
//
// Free functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace moil {

enum class FileDType : std::uint8_t { kF32, kBF16, kF16, kI64, kU8 };
std::size_t bytes_of(FileDType dtype);

struct TensorEntry {
  std::string name;
  FileDType dtype = FileDType::kF32;
  std::vector<std::int64_t> dims;
  std::uint64_t begin = 0, end = 0;  // bytes, counted from the end of the header
  std::uint64_t elements() const { return (end - begin) / bytes_of(dtype); }
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> entries;  // in the order of their data
};

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

enum class TensorsOf : std::uint8_t {
  kModel,  // floats, and none without elements
  kData,   // any
};

// data_bytes: how many bytes the file has behind the header; each belongs to one tensor. Throws
// kBadData.
[[nodiscard]] SafetensorsHeader parse_safetensors_header(std::string_view json,
                                                         std::uint64_t data_bytes,
                                                         const std::string& file,
                                                         TensorsOf tensors);

// Dims by name.
using TensorShapes = std::map<std::string, std::vector<std::int64_t>>;

// The header's JSON, padded with spaces so that the data begins at a multiple of 8.
[[nodiscard]] std::string format_safetensors_header(
    const TensorShapes& shapes, const std::map<std::string, std::string>& metadata);

// kInvalidArgument, naming the tensor, for dims that no tensor has.
[[nodiscard]] std::size_t elements_of(const std::string& name,
                                      const std::vector<std::int64_t>& dims);

}  // namespace moil
