#include "engine/train/checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/open_file.h"
#include "base/files/unnamed_file.h"
#include "base/hash.h"

namespace moil {
namespace {

// magic, u32 version, u32 count, u64 text length, text; per tensor u32 name length, name, u64
// elements, floats; u64 XXH3 of all before it. Little-endian, unaligned.
constexpr char kMagic[8] = {'M', 'O', 'I', 'L', 'C', 'K', 'P', 'T'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = sizeof kMagic + sizeof kVersion;
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 36;
constexpr std::size_t kPieceBytes = 1 << 20;  // read at once to be hashed
constexpr const char* kUnreadable = "cannot read the checkpoint";

// Small fields are collected, elements go straight from where they are.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) : file_(path) {}
  template <typename T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, std::size_t size) {
    const auto* p = static_cast<const std::uint8_t*>(data);
    fields_.insert(fields_.end(), p, p + size);
  }
  void put_elements(std::span<const float> values) {
    flush();
    write({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
  }
  void commit() {
    flush();
    put(hash_.hash64());
    file_.write(fields_);
    file_.commit();
  }

 private:
  void flush() {
    write(fields_);
    fields_.clear();
  }
  void write(std::span<const std::uint8_t> bytes) {
    hash_.add(bytes);
    file_.write(bytes);
  }

  AtomicFile file_;
  Hasher hash_;
  std::vector<std::uint8_t> fields_;
};

// Reads a part of a file that ends at `end`.
class Reader {
 public:
  Reader(const UniqueFd& fd, std::size_t end, std::string file)
      : fd_(fd), end_(end), file_(std::move(file)) {}
  template <typename T>
  T get() {
    T value;
    const std::size_t from = take(sizeof value);
    read_at(fd_, from, std::as_writable_bytes(std::span(&value, 1)), kUnreadable);
    return value;
  }
  std::string text(std::uint64_t length) {
    const std::size_t from = take(length);
    std::string text(static_cast<std::size_t>(length), '\0');
    read_at(fd_, from, std::as_writable_bytes(std::span(text)), kUnreadable);
    return text;
  }
  bool at_end() const { return at_ == end_; }
  std::size_t take(std::uint64_t size) {
    if (size > end_ - at_)
      throw Error(ErrorCode::kBadData, file_ + " is damaged: it ends too early");
    const std::size_t from = at_;
    at_ += static_cast<std::size_t>(size);
    return from;
  }

 private:
  const UniqueFd& fd_;
  const std::size_t end_;
  std::size_t at_ = 0;
  const std::string file_;
};

// The file, and its size; none if there is no file.
UniqueFd open_to_read(const std::filesystem::path& path, std::size_t& size) {
  UniqueFd fd(open_file(path, O_RDONLY));
  if (!fd) {
    if (errno == ENOENT) return fd;
    throw system_error("cannot open " + path.string(), errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) throw system_error("cannot stat " + path.string(), errno);
  if (!S_ISREG(info.st_mode))
    throw Error(ErrorCode::kInvalidArgument, path.string() + " is not a regular file");
  size = static_cast<std::size_t>(info.st_size);
  if (size > kMaxBytes)
    throw Error(ErrorCode::kResourceExhausted, path.string() + " is larger than a checkpoint");
  return fd;
}

// The version before the checksum: another version may be checked in another way.
void check_header(const UniqueFd& fd, std::size_t size, const std::string& file) {
  char magic[sizeof kMagic] = {};
  if (size >= sizeof kMagic) read_at(fd, 0, std::as_writable_bytes(std::span(magic)), kUnreadable);
  if (std::memcmp(magic, kMagic, sizeof kMagic) != 0)
    throw Error(ErrorCode::kBadData, file + " is not a checkpoint");
  if (size < kHeaderBytes + kHashBytes)
    throw Error(ErrorCode::kBadData, file + " is damaged: it ends too early");
  std::uint32_t version = 0;
  read_at(fd, sizeof kMagic, std::as_writable_bytes(std::span(&version, 1)), kUnreadable);
  if (version != kVersion) {
    throw Error(ErrorCode::kBadData, file + " has checkpoint version " + std::to_string(version) +
                                         "; this build reads " + std::to_string(kVersion));
  }
}

void check_hash(const UniqueFd& fd, std::size_t body, const std::string& file) {
  Hasher hash;
  std::vector<std::uint8_t> piece(std::min(body, kPieceBytes));
  for (std::size_t at = 0; at < body; at += piece.size()) {
    const auto part = std::span(piece).first(std::min(piece.size(), body - at));
    read_at(fd, at, std::as_writable_bytes(part), kUnreadable);
    hash.add(part);
  }
  std::uint64_t expected = 0;
  read_at(fd, body, std::as_writable_bytes(std::span(&expected, 1)), kUnreadable);
  if (hash.hash64() != expected)
    throw Error(ErrorCode::kBadData, file + " is damaged: its checksum differs");
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const std::string& text,
                     std::span<const PersistentTensor> tensors) {
  Writer writer(path);
  writer.put_bytes(kMagic, sizeof kMagic);
  writer.put(kVersion);
  writer.put(static_cast<std::uint32_t>(tensors.size()));
  writer.put(static_cast<std::uint64_t>(text.size()));
  writer.put_bytes(text.data(), text.size());
  for (const auto& t : tensors) {
    writer.put(static_cast<std::uint32_t>(t.name.size()));
    writer.put_bytes(t.name.data(), t.name.size());
    writer.put(static_cast<std::uint64_t>(t.elements));
    writer.put_elements(t.data().values);
  }
  writer.commit();
}

std::optional<Checkpoint> Checkpoint::load(const std::filesystem::path& path) {
  Checkpoint c;
  std::size_t size = 0;
  c.fd_ = open_to_read(path, size);
  if (!c.fd_) return std::nullopt;
  const std::string file = path.string();
  check_header(c.fd_, size, file);
  const std::size_t body = size - kHashBytes;
  check_hash(c.fd_, body, file);
  Reader reader(c.fd_, body, file);
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
    read_at(fd_, saved.offset, std::as_writable_bytes(data.values), kUnreadable);
  }
}

}  // namespace moil
