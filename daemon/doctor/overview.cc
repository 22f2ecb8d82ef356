#include "daemon/doctor/overview.h"

#include "daemon/doctor/attention.h"
#include "daemon/jobs/night_view.h"
#include "daemon/state/night_records.h"

namespace moil::daemon {
namespace {

constexpr std::size_t kMostWaiting = 10;

Json running_job(const NightView& s) {
  const auto id = s.scheduler.running();
  if (!id) return nullptr;
  const Job job = s.jobs.get(*id);
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
std::string waits_for(const NightView& s, const Job& job, const Verdict& verdict) {
  if (const auto held = s.scheduler.held()) return held->why;
  if (job.not_before > s.world.now_milliseconds())
    return "another try at " + utc_text(job.not_before) + ": " + job.message;
  if (!job.ignore_window && !verdict.open) return verdict.reason;
  if (const auto running = s.scheduler.running())
    return "job " + std::to_string(*running) + ", which runs";
  return "its turn";
}

Json waiting_jobs(const NightView& s, const Verdict& verdict) {
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

}  // namespace

Window night_window(const NightView& s) {
  const Nights nights = s.config.nights();
  const LocalTime now = s.world.local_time();
  if (const auto open = nights.open_at(now)) return open->window;
  const auto next = nights.next(now);
  return next ? next->window : Window{};
}

Json next_nights(const NightView& s) {
  const auto seconds = NightRecords(s.database).typical_seconds();
  const Recurring::Openings openings = s.recurring.openings();
  Json list = Json::array();
  for (const Schedule& schedule : s.schedules.all()) {
    const auto next = s.recurring.next(schedule, openings);
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

Json overview(const NightView& s) {
  const Transaction reading(s.database, Transaction::Kind::kRead);  // for much is asked
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
