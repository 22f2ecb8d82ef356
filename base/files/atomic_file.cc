#include "base/files/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/files/disk_full.h"
#include "base/files/file.h"
#include "base/files/open_file.h"
#include "base/files/write_all.h"

namespace moil {
namespace {

// By which an open file can be linked to a name.
std::string link_to(const UniqueFd& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

// Differs between the files of a process and, by the process id, between processes.
std::filesystem::path name_beside(std::filesystem::path path) {
  static std::atomic<unsigned> count{0};
  path += kAsideMark + std::to_string(::getpid()) + "." + std::to_string(count++);
  return path;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path, Aside aside)
    : path_(std::move(path)), aside_(name_beside(path_)) {
  if (aside == Aside::kUnnamed) open_unnamed();
  if (!file_) file_ = UniqueFd(open_file(aside_, O_WRONLY | O_CREAT | O_TRUNC));
  if (file_) return;
  const std::string what = "cannot create " + aside_.string();
  if (is_disk_full(errno)) throw_write_error(what, errno);
  throw access_error(what, aside_, errno);
}

void AtomicFile::open_unnamed() {
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  UniqueFd file(open_file(folder, O_TMPFILE | O_WRONLY));
  is_unnamed_ = file && ::access(link_to(file).c_str(), F_OK) == 0;
  if (is_unnamed_) file_ = std::move(file);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(aside_.c_str());
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  if (!write_all(file_.get(), bytes)) throw_write_error("cannot write " + aside_.string(), errno);
}

void AtomicFile::commit() {
  if (::fsync(file_.get()) != 0) throw_write_error("cannot fsync " + aside_.string(), errno);
  commit_unflushed();
  sync_folder(path_.parent_path());
}

void AtomicFile::commit_unflushed() {
  if (is_unnamed_ &&
      ::linkat(AT_FDCWD, link_to(file_).c_str(), AT_FDCWD, aside_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    throw_write_error("cannot create " + aside_.string(), errno);
  file_.reset();
  if (::rename(aside_.c_str(), path_.c_str()) != 0)
    throw_write_error("cannot rename " + aside_.string() + " to " + path_.string(), errno);
  committed_ = true;
}

void remove_unfinished(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> found;
  const std::string beginning = path.filename().string() + kAsideMark;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
      if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
    }
    for (const auto& file : found) std::filesystem::remove(file);
  } catch (const std::filesystem::filesystem_error& e) {
    throw system_error("cannot clear up beside " + path.string(), e.code().value());
  }
}

}  // namespace moil
