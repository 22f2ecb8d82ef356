// schedule.add, schedule.list, schedule.get, schedule.enable, schedule.rm, schedule.run
#include <algorithm>

#include "daemon/jobs/job_intake.h"
#include "daemon/jobs/recurring.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/page.h"

namespace moil::daemon {
namespace {

constexpr int kMostSchedules = 1000;
constexpr int kMostListedSchedules = 100;  // of a page: each is looked at as it is now

struct ScheduleAddParams {
  RecurringSpec schedule;
};

const Fields<ScheduleAddParams>& fields_of(const ScheduleAddParams*) {
  static const Fields<ScheduleAddParams> table = {
      field("schedule", &ScheduleAddParams::schedule, Need::kRequired, check_recurring)};
  return table;
}

struct NameParams {
  std::string name;
};

const Fields<NameParams>& fields_of(const NameParams*) {
  static const Fields<NameParams> table = {field("name", &NameParams::name, Need::kRequired)};
  return table;
}

struct EnableParams {
  std::string name;
  bool enabled = true;
};

const Fields<EnableParams>& fields_of(const EnableParams*) {
  static const Fields<EnableParams> table = {
      field("name", &EnableParams::name, Need::kRequired),
      field("enabled", &EnableParams::enabled, Need::kRequired)};
  return table;
}

// With when it comes next and why that would be for nothing.
Json document(const Recurring& recurring, const Schedule& schedule,
              const Recurring::Openings& openings) {
  Json out = to_json(schedule);
  const auto next = recurring.next(schedule, openings);
  out["next_at"] = next ? Json(utc_text(*next)) : Json(nullptr);
  const std::string why = recurring.why_not(schedule);
  out["why_not"] = why.empty() ? Json(nullptr) : Json(why);
  return out;
}

void add_schedule(const Call& call, const Responder& responder, const JobIntake& intake,
                  ScheduleStore& schedules, Recurring& recurring) {
  const RecurringSpec spec = read_fields<ScheduleAddParams>(call.params, "the schedule").schedule;
  intake.check(spec.job, "/schedule/job", responder, [&schedules, &recurring, spec] {
    if (schedules.all().size() >= kMostSchedules)
      throw Error(ErrorCode::kResourceExhausted,
                  "there are " + std::to_string(kMostSchedules) + " schedules already");
    schedules.add(spec);
    recurring.wake();
    return document(recurring, schedules.get(spec.name), recurring.openings());
  });
}

struct ScheduleListParams {
  std::string after;  // a schedule's name
};

const Fields<ScheduleListParams>& fields_of(const ScheduleListParams*) {
  static const Fields<ScheduleListParams> table = {field("after", &ScheduleListParams::after)};
  return table;
}

Json list_schedules(const ScheduleListParams& params, const ScheduleStore& schedules,
                    const Recurring& recurring) {
  const auto& all = schedules.all();
  auto first = all.begin();
  if (!params.after.empty()) {
    first = std::ranges::find(all, params.after, [](const Schedule& s) { return s.spec.name; });
    if (first != all.end()) ++first;
  }
  const Recurring::Openings openings = recurring.openings();
  Page page(kMostListedSchedules);
  for (; first != all.end(); ++first) {
    Json entry = document(recurring, *first, openings);
    const Json job = std::move(entry["job"]);
    entry["job"] = {{"name", job["name"]}, {"model", job["model"]}};
    if (!page.add(std::move(entry), {{"after", first->spec.name}})) break;
  }
  return std::move(page).finish("schedules");
}

Json get_schedule(const NameParams& params, const ScheduleStore& schedules,
                  const Recurring& recurring) {
  return document(recurring, schedules.get(params.name), recurring.openings());
}

Json enable(const EnableParams& params, Recurring& recurring) {
  recurring.enable(params.name, params.enabled);
  return {{"name", params.name}, {"enabled", params.enabled}};
}

Json remove_schedule(const NameParams& params, ScheduleStore& schedules) {
  schedules.remove(params.name);
  return {{"name", params.name}};
}

Json run(const NameParams& params, const ScheduleStore& schedules, Recurring& recurring) {
  return {{"id", recurring.run_now(schedules.get(params.name))}, {"state", "queued"}};
}

}  // namespace

MethodTable schedule_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"schedule.add", "0.2", Role::kOperate, "have a job come back by itself", Lane::kWorker,
       by.reading<ScheduleAddParams>(add_schedule), kCheckTime},
      {"schedule.list", "0.2", Role::kRead, "recurring nights, and when each comes next",
       Lane::kLoop, by(list_schedules)},
      {"schedule.get", "0.2", Role::kRead, "one of them whole", Lane::kLoop, by(get_schedule)},
      {"schedule.enable", "0.2", Role::kOperate, "let it come, or rest", Lane::kLoop, by(enable)},
      {"schedule.rm", "0.2", Role::kOperate, "remove one; its jobs stay", Lane::kLoop,
       by(remove_schedule)},
      {"schedule.run", "0.2", Role::kOperate, "queue its job now", Lane::kLoop, by(run)},
  };
}

}  // namespace moil::daemon
