#include "base/files/unflushed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/access.h"
#include "base/files/atomic_file.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/files/open_file.h"

namespace moil {

void write_unflushed(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  file.commit_unflushed();
}

bool make_private_folder_unflushed(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) throw_write_error("cannot create " + folder.string(), errno);
  return false;
}

void flush_file(const std::filesystem::path& path) {
  const UniqueFd file(open_file(path, O_RDONLY));
  if (!file) throw access_error("cannot open " + path.string(), path, errno);
  if (::fsync(file.get()) != 0) throw_write_error("cannot fsync " + path.string(), errno);
  sync_folder(path.parent_path());
}

}  // namespace moil
