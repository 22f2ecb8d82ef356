// schedule.add, schedule.list, schedule.get, schedule.enable, schedule.rm, schedule.run
#include <algorithm>

#include "daemon/methods/job_checks.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/page.h"
#include "daemon/service/service.h"

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
Json document(const Service& service, const Schedule& schedule,
              const Recurring::Openings& openings) {
  Json out = to_json(schedule);
  const auto next = service.recurring.next(schedule, openings);
  out["next_at"] = next ? Json(utc_text(*next)) : Json(nullptr);
  const std::string why = service.recurring.why_not(schedule);
  out["why_not"] = why.empty() ? Json(nullptr) : Json(why);
  return out;
}

void add(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<ScheduleAddParams>(call.params, "the schedule");
  const JobSpec& job = params.schedule.job;
  with_pack(service, job, "/schedule/job", responder, [&service, params, responder] {
    const RecurringSpec& spec = params.schedule;
    const auto add = [&service, spec, responder](std::exception_ptr refusal) {
      if (!responder.is_open()) return;  // nobody would know of it
      try {
        if (refusal) std::rethrow_exception(refusal);
        if (service.schedules.all().size() >= kMostSchedules)
          throw Error(ErrorCode::kResourceExhausted,
                      "there are " + std::to_string(kMostSchedules) + " schedules already");
        service.schedules.add(spec);
        responder.result(
            document(service, service.schedules.get(spec.name), service.recurring.openings()));
        service.recurring.wake();
      } catch (...) {
        responder.error(rpc_error(std::current_exception()));
      }
    };
    service.planner.check(spec.job, responder, add);
  });
}

struct ScheduleListParams {
  std::string after;  // a schedule's name
};

const Fields<ScheduleListParams>& fields_of(const ScheduleListParams*) {
  static const Fields<ScheduleListParams> table = {field("after", &ScheduleListParams::after)};
  return table;
}

Json list_schedules(Service& service, const Call& call) {
  const auto params =
      read_fields<ScheduleListParams>(call.params, "the parameters of schedule.list");
  const auto& all = service.schedules.all();
  auto first = all.begin();
  if (!params.after.empty()) {
    first = std::ranges::find(all, params.after, [](const Schedule& s) { return s.spec.name; });
    if (first != all.end()) ++first;
  }
  const Recurring::Openings openings = service.recurring.openings();
  Page page(kMostListedSchedules);
  for (; first != all.end(); ++first) {
    Json entry = document(service, *first, openings);
    const Json job = std::move(entry["job"]);
    entry["job"] = {{"name", job["name"]}, {"model", job["model"]}};
    if (!page.add(std::move(entry), {{"after", first->spec.name}})) break;
  }
  return std::move(page).finish("schedules");
}

Json get_schedule(Service& service, const Call& call) {
  const auto params = read_fields<NameParams>(call.params, "the parameters of schedule.get");
  return document(service, service.schedules.get(params.name), service.recurring.openings());
}

Json enable(Service& service, const Call& call) {
  const auto params = read_fields<EnableParams>(call.params, "the parameters of schedule.enable");
  service.recurring.enable(params.name, params.enabled);
  return {{"name", params.name}, {"enabled", params.enabled}};
}

Json remove_schedule(Service& service, const Call& call) {
  const auto params = read_fields<NameParams>(call.params, "the parameters of schedule.rm");
  service.schedules.remove(params.name);
  return {{"name", params.name}};
}

Json run(Service& service, const Call& call) {
  const auto params = read_fields<NameParams>(call.params, "the parameters of schedule.run");
  return {{"id", service.recurring.run_now(service.schedules.get(params.name))},
          {"state", "queued"}};
}

}  // namespace

MethodTable schedule_methods(Service& s) {
  using Lane = Method::Lane;
  return {
      {"schedule.add", "0.2", Role::kOperate, "have a job come back by itself", Lane::kWorker,
       nullptr, [&s](Call& call, const Responder& responder) { add(s, call, responder); },
       kCheckTime},
      {"schedule.list", "0.2", Role::kRead, "recurring nights, and when each comes next",
       Lane::kLoop, [&s](Call& call) { return list_schedules(s, call); }, nullptr},
      {"schedule.get", "0.2", Role::kRead, "one of them whole", Lane::kLoop,
       [&s](Call& call) { return get_schedule(s, call); }, nullptr},
      {"schedule.enable", "0.2", Role::kOperate, "let it come, or rest", Lane::kLoop,
       [&s](Call& call) { return enable(s, call); }, nullptr},
      {"schedule.rm", "0.2", Role::kOperate, "remove one; its jobs stay", Lane::kLoop,
       [&s](Call& call) { return remove_schedule(s, call); }, nullptr},
      {"schedule.run", "0.2", Role::kOperate, "queue its job now", Lane::kLoop,
       [&s](Call& call) { return run(s, call); }, nullptr},
  };
}

}  // namespace moil::daemon
