#include "engine/io/safetensors_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "base/error.h"
#include "base/files/file.h"
#include "base/half_floats.h"

namespace moil {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : name_(path.string()) {
  fd_ = open_regular(path);
  struct stat status = {};
  if (::fstat(fd_.get(), &status) != 0) throw system_error("cannot read " + name_, errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::string json = header(size);
  SafetensorsHeader parsed =
      parse_safetensors_header(json, size - data_begins_, name_, TensorsOf::kModel);
  metadata_ = std::move(parsed.metadata);
  entries_ = std::move(parsed.entries);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    shapes_[entries_[i].name] = entries_[i].dims;
    places_[entries_[i].name] = i;
  }
}

std::string SafetensorsFile::header(std::uint64_t size) {
  std::uint64_t length = 0;
  if (size < sizeof length) bad("it is too short to be a safetensors file");
  read_at(0, &length, sizeof length);
  if (length > kMaxHeaderBytes) {
    bad("its header claims " + std::to_string(length) + " bytes, more than " +
        std::to_string(kMaxHeaderBytes) + "; is it a safetensors file?");
  }
  if (length > size - sizeof length) {
    bad("its header claims " + std::to_string(length) + " bytes, but the file has only " +
        std::to_string(size) + "; it may be truncated");
  }
  std::string json(length, '\0');
  read_at(sizeof length, json.data(), json.size());
  data_begins_ = sizeof length + length;
  return json;
}

NamedTensor SafetensorsFile::read(const std::string& name) const {
  const auto place = places_.find(name);
  if (place == places_.end())
    throw Error(ErrorCode::kNotFound, name_ + " has no tensor \"" + name + "\"");
  return read(entries_[place->second]);
}

NamedTensor SafetensorsFile::read(const TensorEntry& entry) const {
  NamedTensor tensor{entry.dims, std::vector<float>(entry.elements())};
  const std::uint64_t offset = data_begins_ + entry.begin;
  if (entry.dtype == FileDType::kF32) {
    read_at(offset, tensor.data.data(), tensor.data.size() * sizeof(float));
  } else {
    read_halves(offset, tensor.data, entry.dtype == FileDType::kBF16 ? from_bf16 : from_f16);
  }
  return tensor;
}

void SafetensorsFile::bad(const std::string& what) const {
  throw Error(ErrorCode::kBadData, name_ + ": " + what);
}

void SafetensorsFile::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd_.get(), out, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + name_, errno);
    if (n == 0) throw Error(ErrorCode::kIo, "cannot read " + name_ + " to its end");
    out += n;
    offset += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
}

void SafetensorsFile::read_halves(std::uint64_t offset, std::span<float> to,
                                  float (*widen)(std::uint16_t)) const {
  std::array<std::uint16_t, 1 << 14> chunk;
  while (!to.empty()) {
    const std::size_t n = std::min(to.size(), chunk.size());
    read_at(offset, chunk.data(), n * sizeof chunk[0]);
    for (std::size_t i = 0; i < n; ++i) to[i] = widen(chunk[i]);
    to = to.subspan(n);
    offset += n * sizeof chunk[0];
  }
}

}  // namespace moil
