// Submits the jobs of recurring nights when their moments come.
//
// A moment counts by the wall clock, and once: of several that were missed, the last. A clock that
// went forward and back again makes no schedule wait for a date that was never reached: if the
// last moment that was dealt with lies ahead of the clock, moments count from when that was first
// seen. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "daemon/config/config.h"
#include "daemon/jobs/labelled_since.h"
#include "daemon/loop/event_loop.h"
#include "daemon/loop/outside_calls.h"
#include "daemon/state/schedule_store.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class World;

class Recurring {
 public:
  // labels: a view of the store by a connection of its own. submitted: a job was.
  Recurring(EventLoop& loop, const Config& config, const World& world, ScheduleStore& schedules,
            JobStore& jobs, const data::LabelStore& labels, OutsideCalls& outside,
            std::function<void()> submitted);
  ~Recurring();
  Recurring(const Recurring&) = delete;
  Recurring& operator=(const Recurring&) = delete;

  // Looks soon; called by itself every poll_seconds.
  void wake();
  // When the nights' window that is open opened, and when the next one does. Clocks take their time
  // to tell, and there may be a thousand schedules: whoever asks of several asks this once.
  struct Openings {
    std::optional<std::int64_t> last, next;
  };
  [[nodiscard]] Openings openings() const;
  // When it will next come, by the clock as it is; empty if it never comes.
  [[nodiscard]] std::optional<std::int64_t> next(const Schedule& schedule,
                                                 const Openings& openings) const;
  // Why its next moment would submit nothing as things are now; empty if it would submit a job.
  [[nodiscard]] std::string why_not(const Schedule& schedule) const;
  // Lets it come, or rest. Moments of a calendar that went by while it rested do not count; the
  // night that is open does, unless it has had its job.
  void enable(const std::string& name, bool enabled);
  // Its job, whether a moment has come or not. kFailedPrecondition if the last one has not
  // ended.
  std::int64_t run_now(const Schedule& schedule);

 private:
  void tick();
  [[nodiscard]] std::optional<std::int64_t> due(const Schedule& schedule,
                                                const Openings& openings) const;
  [[nodiscard]] std::int64_t last(const Schedule& schedule) const;
  void heed_the_clock(const Schedule& schedule, const Openings& openings);
  void meet(const Schedule& schedule, std::int64_t moment);
  void decide(const std::string& name, const std::string& pack);
  // What is said of a last job that has not ended; empty if it has ended.
  [[nodiscard]] std::string unfinished(const Schedule& schedule) const;
  [[nodiscard]] std::string nothing_new(const Schedule& schedule, const std::string& pack) const;

  EventLoop& loop_;
  const Config& config_;
  const World& world_;
  ScheduleStore& schedules_;
  JobStore& jobs_;
  const data::LabelStore& labels_;
  const LabelledSince labelled_{labels_};
  OutsideCalls& outside_;
  const std::function<void()> submitted_;
  EventLoop::TimerId timer_ = 0;
  std::set<std::string> looking_;  // at their packs
  // Schedules whose last moment lies ahead of the clock, and when that was first seen, by both.
  struct FirstSeen {
    std::int64_t clock = 0, steady = 0;
  };
  std::map<std::string, FirstSeen> ahead_;
};

}  // namespace moil::daemon
