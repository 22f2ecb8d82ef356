#include "datasets/sounds/sound_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.h"

namespace moil::data {

std::size_t SoundBytesInMemory::read(std::int64_t at, std::span<std::uint8_t> out) const {
  const auto from = std::min(static_cast<std::size_t>(at), bytes_.size());
  const auto some = bytes_.subspan(from, std::min(out.size(), bytes_.size() - from));
  std::ranges::copy(some, out.begin());
  return some.size();
}

SoundBytesOfFile::SoundBytesOfFile(int descriptor, std::string_view name)
    : descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw system_error("cannot look at " + std::string(name), errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::kInvalidArgument,
                std::string(name) + ": it is a folder, a pipe or a device; a file is needed");
  size_ = status.st_size;
}

std::size_t SoundBytesOfFile::read(std::int64_t at, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(descriptor_, out.data() + done, out.size() - done,
                              at + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the decoder tells what is missing
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace moil::data
