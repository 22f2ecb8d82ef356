#include "featurecache/lmdb_error.h"

#include <lmdb.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/files/disk_full.h"
#include "featurecache/discard.h"

namespace moil::cache {
namespace {

constexpr std::uint64_t kLittleSpace = 1 << 20;

std::uint64_t free_bytes(const std::filesystem::path& folder) {
  return free_disk_bytes(folder).value_or(~std::uint64_t{0});
}

// RLIMIT_FSIZE (systemd: LimitFSIZE=) is a full disk of this process alone.
bool near_file_size_limit(const std::filesystem::path& folder) {
  rlimit limit{};
  struct stat file {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  if (::stat((folder / "data.mdb").c_str(), &file) != 0) return false;
  return static_cast<std::uint64_t>(file.st_size) + kLittleSpace > limit.rlim_cur;
}

// LMDB turns a write cut short by a full disk into EIO; the space left tells the two apart.
bool means_disk_full(int rc, const std::filesystem::path& folder) {
  if (moil::is_disk_full(rc) || rc == EFBIG) return true;
  return rc == EIO && (free_bytes(folder) < kLittleSpace || near_file_size_limit(folder));
}

// Those of the system's errors that say so of the files. LMDB's own all do, but for two: a page
// that is none of its kind, a record that fits no page.
bool is_no_cache(int rc) { return rc == EIO || rc == EISDIR || rc == ENOTDIR; }

}  // namespace

void throw_lmdb_error(int rc, const std::filesystem::path& folder, std::string_view doing) {
  if (rc == MDB_MAP_FULL) throw MapFull{};
  const std::string what = "cannot " + std::string(doing) + " the feature cache " + folder.string();
  if (means_disk_full(rc, folder)) {
    throw DiskFull(what + ": no space left for it (" + std::to_string(free_bytes(folder)) +
                   " bytes free on the device); what was stored before is intact");
  }
  const std::string text = what + ": " + ::mdb_strerror(rc);
  if (rc > 0 && !is_no_cache(rc)) throw system_error(what, rc);
  if (rc == MDB_PANIC)
    throw Error(ErrorCode::kFailedPrecondition, text + "; close it and open it again");
  if (rc == MDB_READERS_FULL) throw Error(ErrorCode::kResourceExhausted, text);
  throw Unusable(ErrorCode::kBadData,
                 text + "; delete the folder: everything in it can be computed again");
}

}  // namespace moil::cache
