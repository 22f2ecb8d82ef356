#include "daemon/methods/overview.h"

#include "base/durations.h"
#include "daemon/service/service.h"
#include "daemon/state/night_records.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kMostWaiting = 10;
constexpr std::int64_t kMuchWaiting = std::int64_t{3600} * 1000;  // of one night, milliseconds
constexpr double kLongHeld = 3600;                                // seconds
constexpr int kManyNights = 2;

Json running_job(const Service& s) {
  const auto id = s.scheduler.running();
  if (!id) return nullptr;
  const Job job = s.jobs.brief(*id);
  Json out{{"job", job.id},
           {"name", job.spec.name},
           {"model", job.spec.model},
           {"schedule", job.schedule.empty() ? Json(nullptr) : Json(job.schedule)},
           {"started_at", job.started_at ? Json(utc_text(*job.started_at)) : Json(nullptr)},
           {"attempt", job.attempts}};
  const Json progress = s.scheduler.progress(*id);
  for (const char* member : {"stage", "done", "total", "epoch", "epochs", "seconds_left"})
    out[member] = progress.is_object() ? progress.value(member, Json()) : Json();
  return out;
}

// What a queued job waits for, as far as it is known now.
std::string waits_for(const Service& s, const Job& job, const Verdict& verdict) {
  if (const auto held = s.scheduler.held()) return held->why;
  if (job.not_before > s.world.now_milliseconds())
    return "another try at " + utc_text(job.not_before) + ": " + job.message;
  if (!job.ignore_window && !verdict.open) return verdict.reason;
  if (const auto running = s.scheduler.running())
    return "job " + std::to_string(*running) + ", which runs";
  return "its turn";
}

Json waiting_jobs(const Service& s, const Verdict& verdict) {
  Json list = Json::array();
  s.jobs.list(JobState::kQueued, 0, Details::kWithout, [&](const Job& job) {
    list.push_back({{"job", job.id},
                    {"name", job.spec.name},
                    {"model", job.spec.model},
                    {"for", waits_for(s, job, verdict)}});
    return list.size() < kMostWaiting;
  });
  return list;
}

// What will not mend itself: a sentence each.
Json attention(const Service& s) {
  Json list = Json::array();
  if (const auto held = s.scheduler.held(); held && held->seconds >= kLongHeld) {
    list.push_back("nothing could be started for " +
                   std::to_string(static_cast<int>(held->seconds / kLongHeld)) +
                   " h: " + held->why);
  }
  const int window = night_window(s).length();
  for (const auto& [obstacle, waited] : s.scheduler.waited()) {
    if (obstacle == Obstacle::kNone || waited.milliseconds < kMuchWaiting) continue;
    const std::int64_t share = waited.milliseconds / kMinute * 100 / window;
    list.push_back(
        "jobs have waited " + std::to_string(waited.milliseconds / kMuchWaiting) +
        " h of this night (" + std::to_string(std::min<std::int64_t>(share, 100)) +
        " % of the window) for " + name_of(obstacle) +
        "; if that is so every night, change \"conditions\" or \"window\" in moild.json");
  }
  if (const int nights = s.scheduler.nights_waited(); nights >= kManyNights)
    list.push_back("jobs have waited for " + std::to_string(nights) +
                   " nights without a start; see what they wait for");
  for (const Schedule& schedule : s.schedules.all()) {
    if (!schedule.spec.enabled || !schedule.last_job) continue;
    const Job last = s.jobs.brief(*schedule.last_job);
    if (last.state != JobState::kFailed) continue;
    list.push_back("schedule " + schedule.spec.name + ": its last job, " + std::to_string(last.id) +
                   ", failed: " + last.message);
  }
  return list;
}

}  // namespace

Window night_window(const Service& s) {
  const Nights nights = s.config.nights();
  const LocalTime now = s.world.local_time();
  if (const auto open = nights.open_at(now)) return open->window;
  const auto next = nights.next(now);
  return next ? next->window : Window{};
}

Json next_nights(const Service& s) {
  const auto seconds = NightRecords(s.database).typical_seconds();
  Json list = Json::array();
  for (const Schedule& schedule : s.schedules.all()) {
    const auto next = s.recurring.next(schedule);
    const std::string why = s.recurring.why_not(schedule);
    const auto known = seconds.find(schedule.spec.name);
    list.push_back({{"schedule", schedule.spec.name},
                    {"model", schedule.spec.job.model},
                    {"at", next ? Json(utc_text(*next)) : Json(nullptr)},
                    {"why_not", why.empty() ? Json(nullptr) : Json(why)},
                    {"seconds", known != seconds.end() ? Json(known->second) : Json(nullptr)}});
  }
  return list;
}

Json overview(const Service& s) {
  const Verdict verdict = s.scheduler.verdict();
  const auto last = NightRecords(s.database).last();
  return {{"running", running_job(s)},
          {"waiting", waiting_jobs(s, verdict)},
          {"waiting_count", s.jobs.count(JobState::kQueued)},
          {"last_night", last ? to_json(*last) : Json(nullptr)},
          {"next_nights", next_nights(s)},
          {"attention", attention(s)}};
}

}  // namespace moil::daemon
