#include "daemon/jobs/recurring.h"

#include <algorithm>
#include <chrono>

#include "base/durations.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "daemon/log/log.h"
#include "daemon/schedule/world.h"

namespace moil::daemon {
namespace {

// A moment that is no longer ago was not missed: the daemon looks now and then.
constexpr std::int64_t kLate = 10 * kMinute;
constexpr std::int64_t kClockIsBelieved = 60 * kMinute;
constexpr std::int64_t kEarliestClock = 1'704'067'200'000;  // 2024-01-01
constexpr std::uint64_t kMostManifestBytes = 16 << 20;

// What distinguishes a pack from others: its manifest has the checksums of all that is in it. Empty
// if it cannot be read; the job says so.
std::string told(const std::filesystem::path& pack) {
  try {
    return to_hex(hash128(read_file(pack / "pack.json", kMostManifestBytes)));
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace

Recurring::Recurring(EventLoop& loop, const Config& config, const World& world,
                     ScheduleStore& schedules, JobStore& jobs, const data::LabelStore& labels,
                     OutsideCalls& outside, std::function<void()> submitted)
    : loop_(loop),
      config_(config),
      world_(world),
      schedules_(schedules),
      jobs_(jobs),
      labels_(labels),
      outside_(outside),
      submitted_(std::move(submitted)) {
  wake();
}

Recurring::~Recurring() { loop_.cancel(timer_); }

void Recurring::wake() {
  loop_.cancel(timer_);
  timer_ = loop_.after(std::chrono::milliseconds(0), [this] { tick(); });
}

void Recurring::tick() {
  timer_ = loop_.after(config_.poll(), [this] { tick(); });
  try {
    const std::vector<Schedule> all = schedules_.all();
    if (all.empty()) return;
    const Openings now = openings();
    for (const Schedule& schedule : all) {
      if (!schedule.spec.enabled || looking_.contains(schedule.spec.name)) continue;
      heed_the_clock(schedule, now);
      if (const auto moment = due(schedule, now)) meet(schedule, *moment);
    }
  } catch (const std::exception& error) {
    log_error("the schedules cannot be read or written: {}", error.what());
  }
}

// A clock is put right by seconds now and then: a moment is not met twice for that.
std::int64_t Recurring::last(const Schedule& schedule) const {
  const std::int64_t last = schedule.last_due.value_or(schedule.created_at);
  const std::int64_t now = world_.now_milliseconds();
  if (last <= now + kLate) return last;
  const auto seen = ahead_.find(schedule.spec.name);
  return seen == ahead_.end() ? now : std::min(seen->second.clock, now);
}

// The record may be wrong, or the clock: a device without one of its own begins anywhere, until it
// is told the time. So the record stays for a while, and for as long as the clock cannot be right.
void Recurring::heed_the_clock(const Schedule& schedule, const Openings& openings) {
  const std::string& name = schedule.spec.name;
  const std::int64_t now = world_.now_milliseconds(), steady = world_.steady_milliseconds();
  if (schedule.last_due.value_or(schedule.created_at) <= now + kLate) {
    ahead_.erase(name);
    return;
  }
  const auto [seen, is_new] = ahead_.try_emplace(name, FirstSeen{now, steady});
  if (is_new) log_warn("schedule {}: the clock was set back behind its last moment", name);
  seen->second.clock = std::min(seen->second.clock, now);
  if (now < kEarliestClock || steady - seen->second.steady < kClockIsBelieved) return;
  if (!due(schedule, openings)) schedules_.pass_over(name, now, "the clock was set back");
}

std::optional<std::int64_t> Recurring::due(const Schedule& schedule,
                                           const Openings& openings) const {
  const std::int64_t now = world_.now_milliseconds();
  const auto calendar = calendar_of(schedule.spec);
  if (!calendar) {
    const auto start = openings.last;
    // A schedule that is added within a window has its first night in it.
    const bool is_done =
        schedule.last_due && *schedule.last_due >= start && *schedule.last_due <= now;
    return start && !is_done ? start : std::nullopt;
  }
  const auto next = calendar->next(last(schedule) / 1000);
  if (!next || *next * 1000 > now) return std::nullopt;
  return *next * 1000;
}

std::optional<std::int64_t> Recurring::next(const Schedule& schedule,
                                            const Openings& openings) const {
  if (!schedule.spec.enabled) return std::nullopt;
  const std::int64_t now = world_.now_milliseconds();
  if (due(schedule, openings)) return now;
  const auto calendar = calendar_of(schedule.spec);
  if (calendar) {
    const auto found = calendar->next(now / 1000);
    return found ? std::optional(*found * 1000) : std::nullopt;
  }
  return openings.next;
}

Recurring::Openings Recurring::openings() const {
  return {opened_at(config_.nights(), world_), opens_at(config_.nights(), world_)};
}

// `moment` is the first of the moments that were missed.
void Recurring::meet(const Schedule& schedule, std::int64_t moment) {
  const std::int64_t now = world_.now_milliseconds();
  const bool is_missed = calendar_of(schedule.spec) && now - moment > kLate;
  const std::string& name = schedule.spec.name;
  if (is_missed && !schedule.spec.catch_up)
    return schedules_.pass_over(name, now, "its moment was missed, and \"catch_up\" is false");
  if (const std::string why = unfinished(schedule); !why.empty())
    return schedules_.pass_over(name, now, "it " + why);
  looking_.insert(name);
  const auto go_on = [this, name](const std::string& pack) { decide(name, pack); };
  try {
    outside_.start<std::string>([pack = schedule.spec.job.global.pack] { return told(pack); },
                                go_on, [go_on](const std::exception_ptr&) { go_on(""); });
  } catch (const std::exception& error) {  // so many others hang: no reason to stay away
    log_warn("schedule {}: its pack is not looked at: {}", name, error.what());
    go_on("");
  }
}

void Recurring::decide(const std::string& name, const std::string& pack) {
  looking_.erase(name);
  try {
    const Schedule schedule = schedules_.get(name);  // as it is now
    if (!schedule.spec.enabled || !unfinished(schedule).empty()) return;
    const std::int64_t now = world_.now_milliseconds();
    if (const std::string why = nothing_new(schedule, pack); !why.empty())
      return schedules_.pass_over(name, now, why);
    const std::int64_t job = schedules_.submit(schedule, now, {labels_.newest_id(), pack});
    log_info("schedule {}: job {} is queued", name, job);
    submitted_();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound)  // removed meanwhile
      log_error("schedule {}: {}", name, error.what());
  }
}

std::string Recurring::nothing_new(const Schedule& schedule, const std::string& pack) const {
  const auto& only_if = schedule.spec.only_if;
  if (!only_if) return "";
  if (only_if->changed_pack && pack != schedule.pack_seen) return "";
  if (!only_if->new_labels) return "the pack is the same as before";
  const auto least = static_cast<std::size_t>(*only_if->new_labels);
  const std::size_t found = labelled_.count(schedule.labels_seen);
  if (found >= least) return "";
  return std::to_string(found) + (found == 1 ? " sample was" : " samples were") +
         " labelled since the last run; " + std::to_string(least) + (least == 1 ? " is" : " are") +
         " asked for";
}

std::string Recurring::why_not(const Schedule& schedule) const {
  if (!schedule.spec.enabled) return "it is disabled";
  if (const std::string why = unfinished(schedule); !why.empty()) return why;
  const auto& only_if = schedule.spec.only_if;
  // Whether the pack changes is seen when the moment comes.
  return only_if && only_if->changed_pack ? "" : nothing_new(schedule, schedule.pack_seen);
}

void Recurring::enable(const std::string& name, bool enabled) {
  if (!enabled) return schedules_.disable(name);
  const Schedule schedule = schedules_.get(name);
  const std::int64_t now = world_.now_milliseconds();
  const Openings open = openings();
  const bool comes_now = !calendar_of(schedule.spec) && due(schedule, open);
  schedules_.enable(name, comes_now && open.last ? *open.last - 1 : now);
  wake();
}

std::int64_t Recurring::run_now(const Schedule& schedule) {
  if (!unfinished(schedule).empty())
    throw Error(ErrorCode::kFailedPrecondition,
                "job " + std::to_string(*schedule.last_job) + " of schedule \"" +
                    schedule.spec.name + "\" has not ended; cancel it first (job.cancel)");
  const std::int64_t job = schedules_.submit(schedule, world_.now_milliseconds(),
                                             {labels_.newest_id(), schedule.pack_seen}, true);
  submitted_();
  return job;
}

std::string Recurring::unfinished(const Schedule& schedule) const {
  if (!schedule.last_job || is_finished(jobs_.standing(*schedule.last_job).state)) return "";
  return "waits for job " + std::to_string(*schedule.last_job);
}

}  // namespace moil::daemon
