#include "daemon/doctor/attention.h"

#include <algorithm>

#include "base/durations.h"
#include "daemon/doctor/overview.h"
#include "daemon/jobs/night_view.h"

namespace moil::daemon {
namespace {

constexpr std::int64_t kMuchWaiting = std::int64_t{3600} * 1000;  // of one night, milliseconds
constexpr double kLongHeld = 3600;                                // seconds
constexpr int kManyNights = 2;

void add_held(const NightView& s, Json& list) {
  const auto held = s.scheduler.held();
  if (!held || held->seconds < kLongHeld) return;
  list.push_back("nothing could be started for " +
                 std::to_string(static_cast<int>(held->seconds / kLongHeld)) + " h: " + held->why);
}

void add_waited(const NightView& s, Json& list) {
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
}

std::string gone_by(const NightView& s, int nights) {
  return std::to_string(nights) +
         " nights have gone by in which the device was off or asleep in "
         "the window " +
         night_window(s).text();
}

int gone_since(const WindowsGone& gone, std::int64_t moment) {
  return static_cast<int>(
      std::ranges::count_if(gone, [&](std::int64_t start) { return start > moment; }));
}

void add_schedules(const NightView& s, const WindowsGone& gone, Json& list) {
  for (const Schedule& schedule : s.schedules.all()) {
    if (!schedule.spec.enabled) continue;
    if (const std::string slept = slept_through_sentence(s, schedule, gone); !slept.empty())
      list.push_back(slept + ": " + kStayAwake);
    if (!schedule.last_job) continue;
    const JobStore::Standing last = s.jobs.standing(*schedule.last_job);
    if (last.state != JobState::kFailed) continue;
    list.push_back("schedule " + schedule.spec.name + ": its last job, " +
                   std::to_string(*schedule.last_job) + ", failed: " + last.message);
  }
}

}  // namespace

std::string lost_nights_sentence(const NightView& s) {
  const LostNights& lost = s.scheduler.lost_nights();
  if (lost.count < kManyNights) return "";
  std::string text =
      "jobs have waited for " + std::to_string(lost.count) + " nights without a start";
  if (lost.cause() == Obstacle::kNone) return text + "; see what they wait for";
  text += std::string(", longest for ") + name_of(lost.cause());
  const auto tonight = s.scheduler.waited().find(lost.cause());
  return tonight == s.scheduler.waited().end() ? text : text + ": " + tonight->second.says;
}

// The schedule is met in each window in which moild runs, whether that queues a job or not.
std::string slept_through_sentence(const NightView& s, const Schedule& schedule,
                                   const WindowsGone& gone) {
  const RecurringSpec& spec = schedule.spec;
  if (!spec.enabled || calendar_of(spec)) return "";
  const int nights = gone_since(gone, schedule.last_due.value_or(schedule.created_at));
  if (nights < kManyNights) return "";
  return "schedule " + spec.name + " does not come: " + gone_by(s, nights);
}

std::string slept_through_sentence(const NightView& s, const WindowsGone& gone) {
  const std::int64_t oldest = s.database.number(
      "SELECT coalesce(min(submitted_at), 0) FROM jobs WHERE state = 'queued' AND "
      "ignore_window = 0 AND attempts = 0");
  if (oldest == 0 || s.scheduler.running() || s.scheduler.held()) return "";
  // Another's night was one, too.
  const std::int64_t busy = s.database.number(
      "SELECT max(coalesce(max(started_at), 0), coalesce(max(finished_at), 0)) FROM jobs");
  const int nights = gone_since(gone, std::max(oldest, busy)) - s.scheduler.lost_nights().count;
  return nights < kManyNights ? "" : "jobs wait and do not start: " + gone_by(s, nights);
}

WindowsGone windows_gone(const NightView& s) { return windows_gone(s.config.nights(), s.world); }

Json attention(const NightView& s) {
  const WindowsGone gone = windows_gone(s);
  Json list = Json::array();
  add_held(s, list);
  add_waited(s, list);
  if (const std::string lost = lost_nights_sentence(s); !lost.empty())
    list.push_back(lost + "; moilctl doctor looks for the cause");
  if (const std::string slept = slept_through_sentence(s, gone); !slept.empty())
    list.push_back(slept + ": " + kStayAwake);
  add_schedules(s, gone, list);
  return list;
}

}  // namespace moil::daemon
