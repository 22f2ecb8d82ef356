// A file written piece by piece that takes its place only when it is complete.
//
// The one way to replace a file: write_file_atomic() of base/files/file.h is this with bytes at
// hand. An object belongs to one thread; writers of one path, in any threads and processes, do not
// mix, and the last to commit remains. All functions throw moil::Error, DiskFull (disk_full.h)
// if no room is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files/unique_fd.h"

namespace moil {

// A file on its way is called PATH, this and the number of the process that writes it; what follows
// tells the files of one process apart.
inline constexpr const char* kAsideMark = ".tmp.";

class AtomicFile {
 public:
  enum class Aside : std::uint8_t {
    kNamed,
    // It has no name until it is complete, so that who is killed leaves nothing; as kNamed if the
    // file system has only files with names.
    kUnnamed,
  };
  // Opens a new file beside `path`, mode 0600, with a name of its own.
  explicit AtomicFile(std::filesystem::path path, Aside aside = Aside::kNamed);
  // Without commit, removes what was written; `path` is as it was.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // For others to write to.
  int descriptor() const { return file_.get(); }
  void write(std::span<const std::uint8_t> bytes);
  // Fsyncs, renames to `path` and fsyncs the folder. Once.
  void commit();
  // Renames to `path` alone (unflushed.h). Once.
  void commit_unflushed();

 private:
  void open_unnamed();
  std::filesystem::path path_, aside_;
  bool is_unnamed_ = false;
  UniqueFd file_;
  bool committed_ = false;
};

// Removes what writers of `path` left beside it that were killed. Only for when no writer is at
// work.
void remove_unfinished(const std::filesystem::path& path);

}  // namespace moil
