#include "daemon/doctor/night_checks.h"

#include <set>

#include "daemon/doctor/attention.h"
#include "daemon/doctor/overview.h"
#include "daemon/jobs/night_view.h"
#include "daemon/state/night_records.h"

namespace moil::daemon {
namespace {

constexpr double kMinuteSeconds = 60;

// What holds for all schedules, of which there may be a thousand: it is found out once.
struct Common {
  const WindowsGone gone;
  std::set<std::string> models;  // that have a version in service

  explicit Common(const NightView& s) : gone(windows_gone(s)) {
    for (const ModelVersion& version : s.models.list())
      if (version.active) models.insert(version.model);
  }
};

// night: what is told of the schedule (next_nights).
Finding check_schedule(const NightView& s, const Schedule& schedule, const Json& night,
                       const Common& common) {
  const std::string name = night["schedule"], model = night["model"];
  const std::string what = "schedule";
  if (!common.models.contains(model))
    return problem(
        what, name + ": model \"" + model + "\" has no version in service",
        "moilctl model import FOLDER --name " + model + "; or moilctl schedule rm " + name);
  if (night["at"].is_null())
    return warning(what,
                   name + " never comes" +
                       (night["why_not"].is_string() ? ": " + night["why_not"].get<std::string>()
                                                     : std::string()),
                   "moilctl schedule enable " + name + ", where it should");
  if (const std::string slept = slept_through_sentence(s, schedule, common.gone); !slept.empty())
    return problem(what, slept, kStayAwake);
  std::string says =
      name + " (model " + model + ") comes next at " + night["at"].get<std::string>();
  if (night["why_not"].is_string())
    return ok(what, says + "; " + night["why_not"].get<std::string>());
  if (!night["seconds"].is_number()) return ok(what, says + "; how long it takes is not known yet");
  const double seconds = night["seconds"];
  says += " and takes about " + figure(seconds / kMinuteSeconds) + " min";
  if (seconds <= night_window(s).length() * kMinuteSeconds) return ok(what, says);
  return warning(what, says + ", longer than the window; it goes on in the night after",
                 "widen \"window\" in moild.json, or give the job deadline_seconds");
}

Finding check_last(const NightRecord& night) {
  const std::string says = "job " + std::to_string(night.job) + " of model " + night.model + " ";
  if (night.state == JobState::kFailed)
    return problem("last-night", says + "failed: " + night.message,
                   "moilctl logs " + std::to_string(night.job));
  if (night.state == JobState::kRejectedByGuard)
    return warning("last-night", says + "was kept back by the guard: " + night.message,
                   "moilctl report " + std::to_string(night.job) +
                       "; more labels, or a larger global.alpha, help most");
  return ok("last-night", says + "succeeded at " + utc_text(night.finished_at));
}

Finding check_queue(const NightView& s, std::int64_t waiting, const WindowsGone& gone) {
  constexpr const char* kWhat = "queue";
  const Verdict verdict = s.scheduler.verdict();
  const std::string jobs = std::to_string(waiting) + (waiting == 1 ? " job waits" : " jobs wait");
  if (const auto held = s.scheduler.held())
    return problem(kWhat, jobs + ", and nothing is started: " + held->why,
                   "mend that; moild tries again by itself");
  if (const std::string lost = lost_nights_sentence(s); !lost.empty())
    return problem(kWhat, lost,
                   "mend its cause; or change \"conditions\" in moild.json, which say what is "
                   "asked for");
  if (const std::string slept = slept_through_sentence(s, gone); !slept.empty())
    return problem(kWhat, slept, kStayAwake);
  if (verdict.open || verdict.obstacle == Obstacle::kWindow)
    return ok(kWhat, jobs + "; the window is " + night_window(s).text() +
                         (verdict.open ? ", and open" : ""));
  return warning(kWhat, jobs + ", and none of the night could start now: " + verdict.reason,
                 "\"conditions\" in moild.json say what is asked for");
}

}  // namespace

Findings check_nights(const NightView& s) {
  const Transaction reading(s.database, Transaction::Kind::kRead);  // for much is asked
  const std::int64_t waiting = s.jobs.count(JobState::kQueued);
  const Common common(s);
  Findings findings = {check_queue(s, waiting, common.gone)};
  const std::vector<Schedule>& schedules = s.schedules.all();
  const Json nights = next_nights(s);  // in the same order
  for (std::size_t i = 0; i < schedules.size(); ++i)
    findings.push_back(check_schedule(s, schedules[i], nights[i], common));
  if (nights.empty() && waiting == 0) {
    findings.push_back(
        warning("schedule", "there is no schedule and no job, so no night will do anything",
                "moilctl model import FOLDER --name NAME --nightly; or moilctl schedule add FILE"));
  }
  if (const auto last = NightRecords(s.database).last()) findings.push_back(check_last(*last));
  return findings;
}

}  // namespace moil::daemon
