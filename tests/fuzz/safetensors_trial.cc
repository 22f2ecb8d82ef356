#include <cstring>
#include <filesystem>

#include "engine/io/safetensors.h"
#include "engine/io/safetensors_file.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/text.h"
#include "tests/fuzz/trials.h"

namespace moil::test {
namespace {

constexpr std::size_t kLengthBytes = 8;

void check_entries(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const TensorEntry& entry : header.entries) {
    require(entry.begin == end && entry.end >= entry.begin, "each byte is one tensor's");
    std::uint64_t elements = 1;
    for (const std::int64_t dim : entry.dims) elements *= static_cast<std::uint64_t>(dim);
    require(entry.elements() == elements, "a tensor has its shape's size");
    end = entry.end;
  }
  require(end == data_bytes, "the data is covered");
}

// As a data file's header, in which tensors may be empty.
void check_as_data(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kLengthBytes) return;
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes) return;
  const std::uint64_t data = bytes.size() - kLengthBytes - length;
  const auto json = text_of(bytes).substr(kLengthBytes, length);
  accepts(
      [&] { check_entries(parse_safetensors_header(json, data, "file", TensorsOf::kData), data); });
}

bool same(const WeightMap& a, const WeightMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.dims != tensor.dims ||
        other->second.data.size() != tensor.data.size() ||
        std::memcmp(other->second.data.data(), tensor.data.data(),
                    tensor.data.size() * sizeof(float)) != 0)
      return false;
  }
  return true;
}

}  // namespace

bool try_safetensors(std::span<const std::uint8_t> bytes) {
  check_as_data(bytes);
  return accepts([&] {
    const MemoryFile file(bytes);
    const Safetensors read = read_safetensors(file.path());
    TensorShapes shapes;
    for (const auto& [name, tensor] : read.tensors) shapes[name] = tensor.dims;
    std::string written = format_safetensors_header(shapes, read.metadata);
    std::uint64_t length = written.size();
    written.insert(0, reinterpret_cast<const char*>(&length), kLengthBytes);
    for (const auto& [name, tensor] : read.tensors)
      written.append(reinterpret_cast<const char*>(tensor.data.data()),
                     tensor.data.size() * sizeof(float));
    const MemoryFile copy(bytes_of(written));
    const Safetensors again = read_safetensors(copy.path());
    require(again.metadata == read.metadata, "what is said of weights survives writing");
    require(same(again.tensors, read.tensors), "weights survive writing");
  });
}

}  // namespace moil::test
