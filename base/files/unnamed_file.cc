#include "base/files/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/files/disk_full.h"
#include "base/files/open_file.h"

namespace moil {

UniqueFd open_unnamed_file(const std::filesystem::path& folder, int extra) {
  UniqueFd file(open_file(folder, O_TMPFILE | O_RDWR | extra));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  // The file system has none of this kind.
  std::string name = folder.string() + "/unnamed-XXXXXX";
  UniqueFd named(::mkostemp(name.data(), O_CLOEXEC | extra));
  if (named) ::unlink(name.c_str());
  return named;
}

void read_at(const UniqueFd& file, std::size_t offset, std::span<std::byte> to, const char* what) {
  for (std::size_t done = 0; done < to.size();) {
    const ssize_t n =
        ::pread(file.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw system_error(what, n == 0 ? EIO : errno);
    done += static_cast<std::size_t>(n);
  }
}

void write_at(const UniqueFd& file, std::size_t offset, std::span<const std::byte> from,
              const char* what) {
  for (std::size_t done = 0; done < from.size();) {
    const ssize_t n = ::pwrite(file.get(), from.data() + done, from.size() - done,
                               static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_write_error(what, n == 0 ? EIO : errno);
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace moil
