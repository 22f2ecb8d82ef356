#include "engine/io/safetensors.h"

#include <bit>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "engine/io/safetensors_file.h"

namespace moil {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const std::uint8_t*>(data), bytes};
}

void check_data(const std::string& name, const std::vector<std::int64_t>& dims,
                const std::vector<float>& data) {
  const std::size_t elements = elements_of(name, dims);
  if (elements != data.size()) {
    throw Error(ErrorCode::kInvalidArgument, "tensor \"" + name + "\": its dims hold " +
                                                 std::to_string(elements) + " elements, its data " +
                                                 std::to_string(data.size()));
  }
}

// data_of(name): valid until the next is asked for.
template <class DataOf>
void write(const std::filesystem::path& path, const TensorShapes& shapes, const DataOf& data_of,
           const SafetensorsMetadata& metadata) {
  const std::string header = format_safetensors_header(shapes, metadata);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(bytes_of(&length, sizeof length));
  file.write(bytes_of(header.data(), header.size()));
  for (const auto& [name, dims] : shapes) {
    const std::vector<float>& data = data_of(name);
    check_data(name, dims, data);
    file.write(bytes_of(data.data(), data.size() * sizeof(float)));
  }
  file.commit();
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  Safetensors result;
  result.metadata = file.metadata();
  for (const TensorEntry& entry : file.entries())
    result.tensors.emplace(entry.name, file.read(entry));
  return result;
}

void write_safetensors(const std::filesystem::path& path, const WeightMap& tensors,
                       const SafetensorsMetadata& metadata) {
  TensorShapes shapes;
  for (const auto& [name, tensor] : tensors) {
    shapes[name] = tensor.dims;
    check_data(name, tensor.dims, tensor.data);
  }
  const auto data_of = [&](const std::string& name) -> const std::vector<float>& {
    return tensors.at(name).data;
  };
  write(path, shapes, data_of, metadata);
}

void write_safetensors(const std::filesystem::path& path, const TensorShapes& shapes,
                       const std::function<NamedTensor(const std::string&)>& read,
                       const SafetensorsMetadata& metadata) {
  NamedTensor tensor;
  const auto data_of = [&](const std::string& name) -> const std::vector<float>& {
    tensor = {};  // before the next one comes
    tensor = read(name);
    return tensor.data;
  };
  write(path, shapes, data_of, metadata);
}

}  // namespace moil
