// What a job keeps in the state folder between attempts, and when that goes. Loop thread only.
#pragma once

#include <cstdint>

#include "daemon/spec/state_layout.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"

namespace moil::daemon {

class JobFolder {
 public:
  JobFolder(const StateLayout& layout, const JobStore& jobs, Flusher& flusher)
      : layout_(layout), jobs_(jobs), flusher_(flusher) {}

  // Before an attempt that is to be given `file`. What a start that failed left goes. A job that is
  // tried again after it had failed writes another version; what it made so far is of use if it
  // begins with the same model. One that goes on is held against the anchor that there is now.
  void prepare(const Job& job, const JobFile& file) const;
  // All but the job's description, and the version that it may have written: the next attempt draws
  // its samples anew.
  void drop_work(std::int64_t job) const;
  // The folder of a job that ended goes, when its end survives a power cut. A failed one keeps its
  // own, for job.retry, but not half a version.
  void settle(const Job& job) const;

 private:
  void judge_by(const std::filesystem::path& path, JobFile& kept, const JobFile& now) const;
  void remove(const std::filesystem::path& path) const;

  const StateLayout& layout_;
  const JobStore& jobs_;
  Flusher& flusher_;
};

}  // namespace moil::daemon
