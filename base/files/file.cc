#include "base/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/access.h"
#include "base/files/atomic_file.h"
#include "base/files/disk_full.h"
#include "base/files/open_file.h"
#include "base/files/unflushed.h"

namespace moil {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : fd_(open_file(path, flags)), path_(path) {
    if (fd_ >= 0) return;
    if (is_disk_full(errno)) throw_write_error("cannot open " + path.string(), errno);
    throw access_error("cannot open " + path.string(), path, errno);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

  void sync() const {
    if (::fsync(fd_) != 0) throw_write_error("cannot fsync " + path_.string(), errno);
  }

 private:
  int fd_;
  std::filesystem::path path_;
};

}  // namespace

UniqueFd open_regular(const std::filesystem::path& path) {
  UniqueFd file(open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  // A socket cannot be opened, nor a device that nobody serves.
  const bool is_open = static_cast<bool>(file);
  if (!is_open && errno != ENXIO) throw access_error("cannot open " + path.string(), path, errno);
  struct stat info {};
  if (is_open && ::fstat(file.get(), &info) != 0)
    throw system_error("cannot stat " + path.string(), errno);
  if (!is_open || !S_ISREG(info.st_mode))
    throw Error(ErrorCode::kIo, "cannot read " + path.string() + ": it is not a regular file");
  return file;
}

namespace {

UniqueFd open_named(const std::filesystem::path& path, Named named) {
  if (named == Named::kRegularFile) return open_regular(path);
  UniqueFd file(open_file(path, O_RDONLY));
  if (!file) throw access_error("cannot open " + path.string(), path, errno);
  return file;
}

}  // namespace

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                                    Named named) {
  const UniqueFd file = open_named(path, named);
  std::vector<std::uint8_t> bytes;
  std::uint8_t chunk[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + path.string(), errno);
    if (n == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(n) > max_bytes) {
      throw Error(ErrorCode::kResourceExhausted, path.string() + " is larger than the limit of " +
                                                     std::to_string(max_bytes) + " bytes");
    }
    bytes.insert(bytes.end(), chunk, chunk + n);
  }
}

std::string read_text(const std::filesystem::path& path, std::uint64_t max_bytes, Named named) {
  const auto bytes = read_file(path, max_bytes, named);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> read_descriptor(int fd, std::uint64_t max_bytes) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) throw system_error("cannot stat the file", errno);
  if (!S_ISREG(info.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument, "the file is not a regular file");
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > max_bytes) {
    throw Error(ErrorCode::kResourceExhausted,
                "the file is larger than the limit of " + std::to_string(max_bytes) + " bytes");
  }
  std::vector<std::uint8_t> bytes(size);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read the file", errno);
    if (n == 0) break;  // it has become shorter
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void write_file_atomic(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomic(const std::filesystem::path& path, std::string_view text) {
  write_file_atomic(path,
                    std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void sync_folder(const std::filesystem::path& folder) {
  Descriptor(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY).sync();
}

void make_private_folder(const std::filesystem::path& folder) {
  if (make_private_folder_unflushed(folder)) sync_folder(folder.parent_path());
}

void rename_durable(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw_write_error("cannot rename " + from.string() + " to " + to.string(), errno);
  }
  sync_folder(to.parent_path());
}

}  // namespace moil
