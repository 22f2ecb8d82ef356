#include "engine/io/safetensors.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <span>

#include "base/atomic_file.h"
#include "base/error.h"
#include "engine/io/half_floats.h"
#include "engine/io/safetensors_header.h"

namespace moil {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : name_(path.string()) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw Error(ErrorCode::kIo, cannot("read") + ": it is not a regular file");
    }
    stream_.open(path, std::ios::binary | std::ios::ate);
    if (!stream_) throw system_error(cannot("open"), errno);
    size_ = static_cast<std::uint64_t>(stream_.tellg());
    stream_.seekg(0);
  }

  std::string header() {
    std::uint64_t length = 0;
    if (size_ < sizeof length) bad("it is too short to be a safetensors file");
    read(&length, sizeof length);
    if (length > kMaxHeaderBytes) {
      bad("its header claims " + std::to_string(length) + " bytes, more than " +
          std::to_string(kMaxHeaderBytes) + "; is it a safetensors file?");
    }
    if (length > size_ - sizeof length) {
      bad("its header claims " + std::to_string(length) + " bytes, but the file has only " +
          std::to_string(size_) + "; it may be truncated");
    }
    std::string json(length, '\0');
    read(json.data(), json.size());
    data_bytes_ = size_ - sizeof length - length;
    return json;
  }

  NamedTensor tensor(const TensorEntry& entry) {  // in the order of the data
    NamedTensor tensor{entry.dims, std::vector<float>(entry.elements())};
    if (entry.dtype == FileDType::kF32) {
      read(tensor.data.data(), tensor.data.size() * sizeof(float));
    } else {
      read_halves(tensor.data, entry.dtype == FileDType::kBF16 ? from_bf16 : from_f16);
    }
    return tensor;
  }

  std::uint64_t data_bytes() const { return data_bytes_; }

 private:
  std::string cannot(const std::string& what) const { return "cannot " + what + " " + name_; }
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(ErrorCode::kBadData, name_ + ": " + what);
  }

  void read(void* to, std::size_t bytes) {
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!stream_) throw Error(ErrorCode::kIo, cannot("read") + " to its end");
  }

  void read_halves(std::span<float> to, float (*widen)(std::uint16_t)) {
    std::array<std::uint16_t, 1 << 14> chunk;
    while (!to.empty()) {
      const std::size_t n = std::min(to.size(), chunk.size());
      read(chunk.data(), n * sizeof chunk[0]);
      for (std::size_t i = 0; i < n; ++i) to[i] = widen(chunk[i]);
      to = to.subspan(n);
    }
  }

  std::string name_;
  std::ifstream stream_;
  std::uint64_t size_ = 0, data_bytes_ = 0;
};

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const std::uint8_t*>(data), bytes};
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  Reader reader(path);
  const std::string json = reader.header();
  SafetensorsHeader header = parse_safetensors_header(json, reader.data_bytes(), path.string());
  Safetensors result;
  result.metadata = std::move(header.metadata);
  for (const TensorEntry& entry : header.entries) {
    result.tensors.emplace(entry.name, reader.tensor(entry));
  }
  return result;
}

void write_safetensors(const std::filesystem::path& path, const WeightMap& tensors,
                       const SafetensorsMetadata& metadata) {
  const std::string header = format_safetensors_header(tensors, metadata);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(bytes_of(&length, sizeof length));
  file.write(bytes_of(header.data(), header.size()));
  for (const auto& [name, tensor] : tensors) {
    file.write(bytes_of(tensor.data.data(), tensor.data.size() * sizeof(float)));
  }
  file.commit();
}

}  // namespace moil
