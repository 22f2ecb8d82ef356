#include "datasets/readers/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/file.h"

namespace moil::data {

InputFile::InputFile(const std::filesystem::path& path) : path_(path), file_(open_regular(path)) {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) throw system_error("cannot stat " + path.string(), errno);
  size_ = static_cast<std::uint64_t>(info.st_size);
}

void InputFile::read(std::uint64_t offset, std::span<std::uint8_t> target) const {
  while (!target.empty()) {
    const ssize_t n =
        ::pread(file_.get(), target.data(), target.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + path_.string(), errno);
    if (n == 0) {
      throw Error(ErrorCode::kBadData, path_.string() + ": ends at byte " + std::to_string(offset) +
                                           ", " + std::to_string(target.size()) +
                                           " bytes before it should");
    }
    offset += static_cast<std::uint64_t>(n);
    target = target.subspan(static_cast<std::size_t>(n));
  }
}

std::vector<std::uint8_t> InputFile::read(std::uint64_t offset, std::uint64_t count) const {
  if (offset > size_ || count > size_ - offset) {
    throw Error(ErrorCode::kBadData, path_.string() + ": has " + std::to_string(size_) +
                                         " bytes, expected " + std::to_string(count) + " at byte " +
                                         std::to_string(offset));
  }
  std::vector<std::uint8_t> bytes(count);
  read(offset, bytes);
  return bytes;
}

}  // namespace moil::data
