// A regular file whose disk hangs: it can be opened and has a size, but reading it does not end
// while this lives. A file system of our own (FUSE), which needs the right to mount.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/files/unique_fd.h"
#include "tests/daemon/support/test_server.h"

namespace moil::daemon::test {

class HungFile {
 public:
  // Whether who reads it can be killed: some disks' drivers let nobody go.
  enum class Killed { kGoes, kStays };
  explicit HungFile(Killed killed = Killed::kGoes);
  ~HungFile();  // ends the reads with an error
  HungFile(const HungFile&) = delete;
  HungFile& operator=(const HungFile&) = delete;

  bool is_there() const { return mounted_; }  // whether we may mount
  std::filesystem::path path() const { return folder_ / "photo"; }
  int reads() const { return reads_; }  // that wait

 private:
  void serve();
  template <class Body>
  void answer(std::uint64_t request, const Body& body) const;
  void refuse(std::uint64_t request, int error) const;  // 0: nothing to say

  const Killed killed_;
  TempFolder folder_;
  UniqueFd device_;
  bool mounted_ = false;
  std::atomic<int> reads_ = 0;
  std::thread thread_;
};

}  // namespace moil::daemon::test
