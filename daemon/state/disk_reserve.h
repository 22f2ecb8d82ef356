// Room on the disk that is kept for what must go on when there is none: deletions, without which a
// full disk would stay full, and the record of how a job ended.
//
// A file in the state folder that holds nothing and takes its bytes. It is given up if room is
// short, and taken again as soon as there is enough. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

#include "base/files/disk_full.h"
#include "base/files/unique_fd.h"

namespace moil::daemon {

class DiskReserve {
 public:
  // Takes `bytes` if there is room for them. On a nearly full disk it is given up at once, for
  // what a start needs; restore() takes it again. Never fails: then there is none.
  DiskReserve(const std::filesystem::path& file, std::uint64_t bytes);

  // Run the work, which frees room (or records an end), with what it needs to be done. On DiskFull
  // it runs a second time, with the reserve given up; so it must change nothing if it throws.
  template <class Work>
  auto for_deletion(Work work) {
    return with(bytes_, work);
  }
  template <class Work>
  auto for_record(Work work) {
    return with(kRecordBytes, work);
  }

  // Its room, for a deletion that goes on beyond a call, for as long as this lives; the reserve
  // outlives it.
  class Lent {
   public:
    explicit Lent(DiskReserve& reserve) : Lent(reserve, reserve.bytes_) {}
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    friend class DiskReserve;
    Lent(DiskReserve& reserve, std::uint64_t bytes);
    DiskReserve& reserve_;
  };

  // Takes again what was given up, or as much of it as there is room for, unless it is lent.
  void restore();
  std::uint64_t held() const;

 private:
  static constexpr std::uint64_t kRecordBytes = 1 << 20;

  template <class Work>
  auto with(std::uint64_t bytes, Work& work) {
    const Lent room(*this, bytes);
    try {
      return work();
    } catch (const DiskFull&) {
      if (!give_up(bytes)) throw;
    }
    return work();
  }

  bool is_short_of(std::uint64_t bytes) const;
  bool give_up(std::uint64_t bytes);  // false: nothing was held

  const std::filesystem::path file_;
  const std::uint64_t bytes_;
  UniqueFd fd_;
  mutable std::mutex mutex_;
  std::uint64_t held_ = 0;  // guarded by mutex_
  int lent_ = 0;            // guarded by mutex_
};

}  // namespace moil::daemon
