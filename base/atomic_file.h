// A file written piece by piece that takes its place only when it is complete.
//
// For files too large to hold a second time in memory (base/file.h replaces a file by bytes at
// hand). One thread. All functions throw moil::Error, DiskFull (disk_full.h) where no room is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace moil {

// A file on its way, base/file.h's too, is called PATH, this and the number of the process that
// writes it; what follows tells the files of one process apart.
inline constexpr const char* kAsideMark = ".tmp.";

class AtomicFile {
 public:
  // Opens a file beside `path`, mode 0600, with a name of its own.
  explicit AtomicFile(std::filesystem::path path);
  // Without commit, removes what was written; `path` is as it was.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::uint8_t> bytes);
  // Fsyncs, renames to `path` and fsyncs the folder. Once.
  void commit();

 private:
  std::filesystem::path path_, aside_;
  int fd_ = -1;
  bool committed_ = false;
};

// Removes what writers of `path` left beside it that were killed. Only where none is at work.
void remove_unfinished(const std::filesystem::path& path);

}  // namespace moil
