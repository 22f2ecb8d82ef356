#include "featurecache/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/files/disk_full.h"
#include "base/files/open_file.h"
#include "featurecache/discard.h"

namespace moil::cache {
namespace {

constexpr off_t kLockFileBytes = 8192;  // what LMDB needs for 126 readers

void make_private(const std::filesystem::path& path, mode_t mode) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;  // not there yet
  if ((info.st_mode & 07777) == mode || info.st_uid != ::geteuid()) return;
  if (::chmod(path.c_str(), mode) != 0) throw system_error("cannot chmod " + path.string(), errno);
}

}  // namespace

std::string opening(const std::filesystem::path& folder) {
  return "cannot open the feature cache " + folder.string();
}

void prepare_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw_write_error("cannot create the feature cache " + folder.string(), errno);
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw Unusable(ErrorCode::kBadData, opening(folder) + ": it is not a folder");
  make_private(folder, 0700);
  make_private(folder / "data.mdb", 0600);
  make_private(folder / "lock.mdb", 0600);
}

void reserve_lock_file(const std::filesystem::path& folder) {
  const int fd = open_file(folder / "lock.mdb", O_RDWR | O_CREAT);
  if (fd < 0 && errno == EISDIR)
    throw Unusable(ErrorCode::kBadData, opening(folder) + ": lock.mdb is a folder");
  if (fd < 0) throw_write_error(opening(folder), errno);
  struct stat info {};
  int error = ::fstat(fd, &info) == 0 ? 0 : errno;
  // A file that exists keeps its size: other processes have mapped that much of it.
  const off_t bytes = info.st_size > 0 ? info.st_size : kLockFileBytes;
  if (error == 0) error = ::posix_fallocate(fd, 0, bytes);
  if (error == EOPNOTSUPP || error == EINVAL) error = 0;  // a file system without it
  ::close(fd);
  if (error != 0) throw_write_error(opening(folder), error);
}

}  // namespace moil::cache
