// job.submit, job.plan, job.list, job.get, job.details, job.cancel, job.retry, job.rm, job.watch
#include <algorithm>
#include <limits>
#include <span>

#include "daemon/jobs/job_intake.h"
#include "daemon/loop/event_loop.h"
#include "daemon/methods/methods.h"
#include "daemon/rpc/page.h"
#include "daemon/service/watchers.h"
#include "daemon/state/disk_reserve.h"
#include "daemon/state/trash.h"
#include "daemon/upkeep/housekeeping.h"

namespace moil::daemon {
namespace {

// --- job.submit ---------------------------------------------------------------------------------

struct SubmitParams {
  JobSpec job;
  bool now = false;
};

const Fields<SubmitParams>& fields_of(const SubmitParams*) {
  static const Fields<SubmitParams> table = {
      field("job", &SubmitParams::job, Need::kRequired, check_job),
      field("now", &SubmitParams::now),
  };
  return table;
}

void submit(const Call& call, const Responder& responder, const JobIntake& intake) {
  const auto params = read_fields<SubmitParams>(call.params, "the job description");
  intake.submit(params.job, params.now, "/job", responder);
}

// --- job.plan -----------------------------------------------------------------------------------

struct PlanParams {
  JobSpec job;
  bool picture = false, timing = false;
  std::string processors;  // a selection's method; empty: not asked for
};

// As a job names them; "auto" is no method but what a night makes of "path".
std::optional<std::string> check_method(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [use, method] : enum_names(ProcessorUse{}))
    if (use != ProcessorUse::kAuto) known.push_back(method);
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::nullopt;
  return unknown_message("method", name, known);
}

const Fields<PlanParams>& fields_of(const PlanParams*) {
  static const Fields<PlanParams> table = {
      field("job", &PlanParams::job, Need::kRequired, check_job),
      field("picture", &PlanParams::picture),
      field("timing", &PlanParams::timing),
      field("processors", &PlanParams::processors, Need::kOptional, check_method),
  };
  return table;
}

void plan(const Call& call, const Responder& responder, const JobIntake& intake,
          JobPlanner& planner) {
  const auto params = read_fields<PlanParams>(call.params, "the job description");
  std::vector<std::string> options;
  if (!params.processors.empty()) options = {"--processors", params.processors};
  if (params.picture) options.emplace_back("--picture");
  if (params.timing) options.emplace_back("--timing");
  intake.with_pack(params.job, "/job", responder, [&planner, params, options, responder] {
    planner.start(params.job, options, responder);
  });
}

// --- job.list -----------------------------------------------------------------------------------

struct JobListParams {
  std::optional<JobState> state;
  std::int64_t before = 0;
  int limit = 50;
  bool details = false;
};

const Fields<JobListParams>& fields_of(const JobListParams*) {
  static const Fields<JobListParams> table = {
      field("state", &JobListParams::state),
      field("before", &JobListParams::before),
      field("limit", &JobListParams::limit, Need::kOptional, between(1, kMostListed)),
      field("details", &JobListParams::details),
  };
  return table;
}

Json list_jobs(const JobListParams& params, const JobStore& jobs, const Scheduler& scheduler) {
  Page page(static_cast<std::size_t>(params.limit));
  const auto details = params.details ? Details::kWith : Details::kWithout;
  jobs.list(params.state, params.before, details, [&](const Job& stored) {
    const Job job = scheduler.as_it_is(stored);
    if (params.state && job.state != *params.state) return true;
    Json entry = to_json(job, false);
    entry["progress"] = scheduler.progress(job.id);
    return page.add(std::move(entry), {{"before", job.id}});
  });
  return std::move(page).finish("jobs");
}

// --- job.get, job.cancel ------------------------------------------------------------------------

struct IdParams {
  std::int64_t id = 0;
};

const Fields<IdParams>& fields_of(const IdParams*) {
  static const Fields<IdParams> table = {field("id", &IdParams::id, Need::kRequired)};
  return table;
}

struct GetParams {
  std::int64_t id = 0;
  std::int64_t since = 0;
  bool details = true;
};

const Fields<GetParams>& fields_of(const GetParams*) {
  static const Fields<GetParams> table = {
      field("id", &GetParams::id, Need::kRequired),
      field("since", &GetParams::since),
      field("details", &GetParams::details),
  };
  return table;
}

// {"job", "events", "next"}: the events after `since`, as many as a page takes.
Json document(const JobStore& jobs, const Scheduler& scheduler, const Job& job, std::int64_t since,
              bool details) {
  Page page(std::numeric_limits<std::size_t>::max());
  jobs.events(job.id, since, [&](const JobEvent& event) {
    return page.add(to_json(event), {{"since", event.seq}});
  });
  Json out = std::move(page).finish("events");
  Json& shown = out["job"] = to_json(job, true);
  shown["progress"] = scheduler.progress(job.id);
  if (!details && shown["result"].is_object()) shown["result"].erase("details");
  return out;
}

Json get_job(const GetParams& params, const JobStore& jobs, const Scheduler& scheduler) {
  return document(jobs, scheduler, scheduler.as_it_is(jobs.get(params.id)), params.since,
                  params.details);
}

Json cancel(const IdParams& params, const JobStore& jobs, Scheduler& scheduler) {
  scheduler.cancel(params.id);
  const Job job = jobs.get(params.id);
  return {{"id", job.id}, {"state", to_string(job.state)}, {"cancelling", job.cancelling}};
}

Json retry(const IdParams& params, const JobStore& jobs, Scheduler& scheduler) {
  scheduler.retry(params.id);
  return {{"id", params.id}, {"state", to_string(jobs.get(params.id).state)}};
}

void remove_job(const IdParams& params, const Responder& responder, JobStore& jobs,
                DiskReserve& reserve, const StateLayout& layout, Housekeeping& housekeeping) {
  const std::int64_t id = params.id;
  reserve.for_deletion([&] { jobs.remove(std::span(&id, 1)); });
  housekeeping.remove_files([&layout, id] { throw_away(layout, layout.job(id)); }, responder,
                            {{"id", id}});
}

// --- job.details --------------------------------------------------------------------------------

constexpr std::size_t kMostPartBytes = std::size_t{1} << 20;

struct DetailsParams {
  std::int64_t id = 0;
  std::string list;
  std::int64_t from = 0;
};

const Fields<DetailsParams>& fields_of(const DetailsParams*) {
  static const Fields<DetailsParams> table = {
      field("id", &DetailsParams::id, Need::kRequired),
      field("list", &DetailsParams::list, Need::kRequired),
      field("from", &DetailsParams::from, Need::kOptional,
            between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())),
  };
  return table;
}

Json details(const DetailsParams& params, const JobStore& jobs) {
  const Job job = jobs.get(params.id);
  auto part = jobs.result_list(job, params.list, params.from, kMostPartBytes);
  const auto end = params.from + static_cast<std::int64_t>(part.items.size());
  const bool is_last = part.items.empty() || end >= part.count;
  return {{"count", part.count},
          {"items", std::move(part.items)},
          {"next", is_last ? Json(nullptr) : Json(end)}};
}

// --- job.watch ----------------------------------------------------------------------------------

struct WatchParams {
  std::int64_t id = 0;
  std::int64_t since = 0;
};

const Fields<WatchParams>& fields_of(const WatchParams*) {
  static const Fields<WatchParams> table = {
      field("id", &WatchParams::id, Need::kRequired),
      field("since", &WatchParams::since),
  };
  return table;
}

Json watch(const WatchParams& params, const Call& call, const JobStore& jobs,
           const Scheduler& scheduler, Watchers& watchers, EventLoop& loop) {
  Json reply =
      document(jobs, scheduler, scheduler.as_it_is(jobs.get(params.id)), params.since, true);
  const auto client = call.client.lock();
  if (!client) return reply;
  const Json& events = reply["events"];
  const std::int64_t seen =
      events.empty() ? params.since : events.back()["seq"].get<std::int64_t>();
  watchers.begin(client, params.id, seen);
  // After the reply: what it had no room for.
  loop.post([&watchers, job = params.id] { watchers.changed(job); });
  return reply;
}

}  // namespace

MethodTable job_methods(const Parts& by) {
  using Lane = Method::Lane;
  return {
      {"job.submit", "0.1", Role::kOperate, "queue a job", Lane::kWorker,
       by.reading<SubmitParams>(submit), kCheckTime},
      {"job.plan", "0.1", Role::kOperate, "what a job would need", Lane::kWorker,
       by.reading<PlanParams>(plan), std::chrono::minutes(10)},
      {"job.list", "0.1", Role::kRead, "jobs, newest first", Lane::kLoop, by(list_jobs)},
      {"job.get", "0.1", Role::kRead, "one job with its events", Lane::kLoop, by(get_job)},
      {"job.details", "0.2", Role::kRead, "a long list of a job's result, in parts", Lane::kLoop,
       by(details)},
      {"job.cancel", "0.1", Role::kOperate, "cancel a job", Lane::kLoop, by(cancel)},
      {"job.retry", "0.2", Role::kOperate, "queue a job again that failed", Lane::kLoop, by(retry)},
      {"job.rm", "0.2", Role::kOperate, "remove a job that has ended, and what is known of it",
       Lane::kSteps, by(remove_job)},
      {"job.watch", "0.1", Role::kRead, "follow a job", Lane::kLoop, by(watch)},
  };
}

}  // namespace moil::daemon
