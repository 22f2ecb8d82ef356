#include "daemon/state/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/open_file.h"
#include "daemon/log/log.h"

namespace moil::daemon {
namespace {

// Below that it is not worth the trouble.
constexpr std::uint64_t kLeast = 64 << 10;
constexpr std::uint64_t kBlock = 4096;

// What the file has really been given; a file with holes holds nothing.
std::uint64_t allocated(int fd) {
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) return 0;
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(info.st_size),
                                 static_cast<std::uint64_t>(info.st_blocks) * 512);
}

}  // namespace

DiskReserve::DiskReserve(const std::filesystem::path& file, std::uint64_t bytes)
    : file_(file),
      bytes_(bytes),
      fd_(open_file(file, O_RDWR | O_CREAT)),
      held_(allocated(fd_.get())) {
  if (!fd_) log_warn("no room is kept for deletions: {}: {}", file.string(), ::strerror(errno));
  if (held_ > bytes_) give_up(held_ - bytes_);
  if (is_short_of(bytes_)) {
    give_up(bytes_);
  } else {
    restore();
  }
}

DiskReserve::Lent::Lent(DiskReserve& reserve, std::uint64_t bytes) : reserve_(reserve) {
  {
    const std::lock_guard lock(reserve_.mutex_);
    ++reserve_.lent_;
  }
  if (reserve_.is_short_of(bytes)) reserve_.give_up(bytes);
}

DiskReserve::Lent::~Lent() {
  {
    const std::lock_guard lock(reserve_.mutex_);
    --reserve_.lent_;
  }
  reserve_.restore();
}

bool DiskReserve::is_short_of(std::uint64_t bytes) const {
  const auto free = free_disk_bytes(file_);
  return free && *free < bytes;
}

bool DiskReserve::give_up(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!fd_ || held_ == 0) return false;
  const std::uint64_t rest = held_ - std::min(held_, bytes);
  if (::ftruncate(fd_.get(), static_cast<off_t>(rest)) != 0) return false;
  ::fsync(fd_.get());  // some file systems hand blocks out again only after that
  held_ = rest;
  return true;
}

void DiskReserve::restore() {
  const std::lock_guard lock(mutex_);
  if (!fd_ || held_ >= bytes_ || lent_ > 0) return;
  const std::uint64_t free = free_disk_bytes(file_).value_or(bytes_);
  std::uint64_t more = std::min(bytes_ - held_, free);
  for (; more >= std::min(kLeast, bytes_ - held_); more /= 2) {
    const std::uint64_t goal = (held_ + more) / kBlock * kBlock;
    if (goal <= held_) return;
    if (::posix_fallocate(fd_.get(), 0, static_cast<off_t>(goal)) == 0) {
      held_ = goal;
      return;
    }
    if (::ftruncate(fd_.get(), static_cast<off_t>(held_)) != 0) return;
  }
}

std::uint64_t DiskReserve::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace moil::daemon
