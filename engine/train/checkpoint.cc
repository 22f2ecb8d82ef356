#include "engine/train/checkpoint.h"

#include <xxhash.h>

#include <cstring>

#include "base/error.h"
#include "base/file.h"

namespace moil {
namespace {

// magic, u32 version, u32 count, u64 text length, text; per tensor u32 name length, name, u64
// elements, floats; u64 XXH3 of all before it. Little-endian, unaligned.
constexpr char kMagic[8] = {'M', 'O', 'I', 'L', 'C', 'K', 'P', 'T'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = sizeof kMagic + sizeof kVersion;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;

template <typename T>
void put(std::vector<std::uint8_t>& bytes, T value) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), p, p + sizeof value);
}

void put_bytes(std::vector<std::uint8_t>& bytes, const void* data, std::size_t size) {
  const auto* p = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), p, p + size);
}

class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, std::string file)
      : bytes_(bytes), file_(std::move(file)) {}
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, bytes_.data() + take(sizeof value), sizeof value);
    return value;
  }
  std::string text(std::uint64_t length) {
    const std::size_t from = take(length);
    return {reinterpret_cast<const char*>(bytes_.data()) + from, static_cast<std::size_t>(length)};
  }
  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t take(std::uint64_t size) {
    if (size > bytes_.size() - at_)
      throw Error(ErrorCode::kBadData, file_ + " is damaged: it ends too early");
    const std::size_t from = at_;
    at_ += static_cast<std::size_t>(size);
    return from;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::string file_;
  std::size_t at_ = 0;
};

// The version before the checksum: another version may be checked in another way.
void check_header(std::span<const std::uint8_t> bytes, const std::string& file) {
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    throw Error(ErrorCode::kBadData, file + " is not a checkpoint");
  if (bytes.size() < kHeaderBytes + sizeof(std::uint64_t))
    throw Error(ErrorCode::kBadData, file + " is damaged: it ends too early");
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + sizeof kMagic, sizeof version);
  if (version != kVersion) {
    throw Error(ErrorCode::kBadData, file + " has checkpoint version " + std::to_string(version) +
                                         "; this build reads " + std::to_string(kVersion));
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const std::string& text,
                     std::span<const PersistentTensor> tensors) {
  std::vector<std::uint8_t> bytes;
  std::size_t total = 64 + text.size();
  for (const auto& t : tensors) total += 16 + t.name.size() + t.elements * sizeof(float);
  bytes.reserve(total);
  put_bytes(bytes, kMagic, sizeof kMagic);
  put(bytes, kVersion);
  put(bytes, static_cast<std::uint32_t>(tensors.size()));
  put(bytes, static_cast<std::uint64_t>(text.size()));
  put_bytes(bytes, text.data(), text.size());
  for (const auto& t : tensors) {
    put(bytes, static_cast<std::uint32_t>(t.name.size()));
    put_bytes(bytes, t.name.data(), t.name.size());
    put(bytes, static_cast<std::uint64_t>(t.elements));
    const auto data = t.data();
    put_bytes(bytes, data.values.data(), data.values.size_bytes());
  }
  put(bytes, static_cast<std::uint64_t>(XXH3_64bits(bytes.data(), bytes.size())));
  write_file_atomic(path, bytes);
}

std::optional<Checkpoint> Checkpoint::load(const std::filesystem::path& path) {
  Checkpoint c;
  try {
    c.bytes_ = read_file(path, kMaxBytes);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kNotFound) return std::nullopt;
    throw;
  }
  const std::string file = path.string();
  check_header(c.bytes_, file);
  const std::size_t body = c.bytes_.size() - 8;
  std::uint64_t hash = 0;
  std::memcpy(&hash, c.bytes_.data() + body, sizeof hash);
  if (hash != XXH3_64bits(c.bytes_.data(), body))
    throw Error(ErrorCode::kBadData, file + " is damaged: its checksum differs");
  Reader reader(std::span(c.bytes_).first(body), file);
  reader.take(kHeaderBytes);
  const auto count = reader.get<std::uint32_t>();
  c.text_ = reader.text(reader.get<std::uint64_t>());
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string name = reader.text(reader.get<std::uint32_t>());
    const auto elements = reader.get<std::uint64_t>();
    if (elements > kMaxBytes)
      throw Error(ErrorCode::kBadData, file + " is damaged: an absurd tensor size");
    c.tensors_.push_back({std::move(name), reader.take(elements * sizeof(float)),
                          static_cast<std::size_t>(elements)});
  }
  if (!reader.at_end())
    throw Error(ErrorCode::kBadData, file + " is damaged: bytes behind its last tensor");
  return c;
}

void Checkpoint::restore(std::span<const PersistentTensor> tensors) const {
  if (tensors.size() != tensors_.size()) {
    throw Error(ErrorCode::kBadData, "the checkpoint has " + std::to_string(tensors_.size()) +
                                         " tensors, the network " + std::to_string(tensors.size()));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Saved& saved = tensors_[i];
    if (saved.name != tensors[i].name || saved.elements != tensors[i].elements) {
      throw Error(ErrorCode::kBadData, "the checkpoint's \"" + saved.name +
                                           "\" does not fit the network's \"" + tensors[i].name +
                                           "\"");
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Saved& saved = tensors_[i];
    const auto data = tensors[i].data();
    std::memcpy(data.values.data(), bytes_.data() + saved.offset, data.values.size_bytes());
  }
}

}  // namespace moil
