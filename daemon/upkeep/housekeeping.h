// Removes what the retention does not keep (config.h): old versions, old jobs with their events and
// results, folders and files that nothing needs. By itself at the start, after a night and once a
// day; and when it is asked, then also the feature maps of backbones that no night uses.
//
// Rows go first, a few in each turn of the loop. When the disk knows of it, files are found in the
// background, thrown away on the loop if nothing needs them by then (state/trash.h), and removed
// in the background: a crash in between leaves files that are found the next time. What others
// throw away is removed now and then. Ages are counted from the last job's end if the clock says
// a later time, so that a clock which went wrong makes nothing old. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/jobs/scheduler.h"
#include "daemon/loop/background.h"
#include "daemon/rpc/method.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/flusher.h"
#include "daemon/state/job_store.h"
#include "daemon/state/model_store.h"
#include "daemon/upkeep/leftovers.h"

namespace moil::daemon {

class Housekeeping {
 public:
  // All outlive it and its work.
  struct Surroundings {
    EventLoop& loop;
    const Config& config;
    const World& world;
    const StateLayout& layout;
    Background& background;
    Database& database;
    Flusher& flusher;
    ModelStore& models;
    JobStore& jobs;
    const Scheduler& scheduler;
    DiskReserve& reserve;
  };

  explicit Housekeeping(const Surroundings& around);  // begins
  ~Housekeeping();
  Housekeeping(const Housekeeping&) = delete;
  Housekeeping& operator=(const Housekeeping&) = delete;

  // There may be something to remove.
  void soon();
  // Answers with what was removed, or would be (docs/protocol.md, system.clean).
  void clean(bool dry_run, const Responder& responder);
  // Answers with what was removed of feature maps (cache.gc): of what no night uses, or of all.
  // kFailedPrecondition if a job is using the cache.
  void remove_maps(bool all, const Responder& responder);
  // After the removal of rows: when it survives a power cut, `throw_away` is called for their files
  // (state/trash.h); when these are gone, this answers.
  void remove_files(std::function<void()> throw_away, const Responder& responder, Json reply);

 private:
  struct Round;
  using RoundPtr = std::shared_ptr<Round>;

  void look(bool is_due);
  void look_for_trash();
  void begin(const RoundPtr& round);
  void plan(Round& round) const;
  void remove_rows(const RoundPtr& round);
  bool remove_some_rows(Round& round);
  void find_files(const RoundPtr& round);
  void throw_files_away(const RoundPtr& round);
  void remove_unused(const RoundPtr& round);
  void next_step(const RoundPtr& round, const std::function<void()>& step);
  void end(const RoundPtr& round, const RpcError* error);
  [[nodiscard]] std::int64_t today() const;
  [[nodiscard]] Kept kept() const;

  const Surroundings s_;
  RoundPtr current_;
  std::deque<RoundPtr> waiting_;
  bool again_ = false;     // by itself, when the current one is over
  std::int64_t last_ = 0;  // steady clock
  EventLoop::TimerId timer_ = 0;
  EventLoop::TimerId trash_timer_ = 0;
  bool emptying_ = false;
};

}  // namespace moil::daemon
