// job.submit, job.plan, job.list, job.get, job.cancel, job.watch
#include <filesystem>

#include "daemon/methods/methods.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

constexpr int kMostListed = 1000;

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

// What cannot be seen from the description alone.
void check_against_state(const Service& service, const JobSpec& spec) {
  FieldErrors errors;
  if (!service.models.active(spec.model)) {
    errors.push_back({"/job/model", "there is no active model \"" + spec.model +
                                        "\"; import it first (model.import)"});
  }
  std::error_code ignored;
  if (!std::filesystem::exists(spec.global.pack, ignored)) {
    errors.push_back({"/job/global/pack", "there is no file " + spec.global.pack});
  }
  if (!errors.empty()) throw ValidationError("the job description", std::move(errors));
}

Json submit(Service& service, const Call& call) {
  const auto params = read_fields<SubmitParams>(call.params, "the job description");
  check_against_state(service, params.job);
  const std::int64_t id = service.jobs.submit(params.job, params.now);
  service.scheduler.wake();
  return {{"id", id}, {"state", "queued"}};
}

// --- job.plan -----------------------------------------------------------------------------------

struct PlanParams {
  JobSpec job;
  bool picture = false, timing = false;
};

const Fields<PlanParams>& fields_of(const PlanParams*) {
  static const Fields<PlanParams> table = {
      field("job", &PlanParams::job, Need::kRequired, check_job),
      field("picture", &PlanParams::picture),
      field("timing", &PlanParams::timing),
  };
  return table;
}

void plan(Service& service, const Call& call, const Responder& responder) {
  const auto params = read_fields<PlanParams>(call.params, "the job description");
  check_against_state(service, params.job);
  std::vector<std::string> options;
  if (params.picture) options.emplace_back("--picture");
  if (params.timing) options.emplace_back("--timing");
  service.planner.start(params.job, options, responder);
}

// --- job.list -----------------------------------------------------------------------------------

struct ListParams {
  std::optional<JobState> state;
  std::int64_t before = 0;
  int limit = 50;
};

const Fields<ListParams>& fields_of(const ListParams*) {
  static const Fields<ListParams> table = {
      field("state", &ListParams::state),
      field("before", &ListParams::before),
      field("limit", &ListParams::limit, Need::kOptional, between(1, kMostListed)),
  };
  return table;
}

Json list(Service& service, const Call& call) {
  const auto params = read_fields<ListParams>(call.params, "the parameters of job.list");
  Json jobs = Json::array();
  for (const Job& job : service.jobs.list(params.state, params.before, params.limit)) {
    Json entry = to_json(job, false);
    entry["progress"] = service.scheduler.progress(job.id);
    jobs.push_back(std::move(entry));
  }
  return {{"jobs", std::move(jobs)}};
}

// --- job.get, job.cancel ------------------------------------------------------------------------

struct IdParams {
  std::int64_t id = 0;
};

const Fields<IdParams>& fields_of(const IdParams*) {
  static const Fields<IdParams> table = {field("id", &IdParams::id, Need::kRequired)};
  return table;
}

Json job_document(const Service& service, const Job& job) {
  Json document = to_json(job, true);
  document["progress"] = service.scheduler.progress(job.id);
  return document;
}

Json get(Service& service, const Call& call) {
  const auto params = read_fields<IdParams>(call.params, "the parameters of job.get");
  const Job job = service.jobs.get(params.id);
  Json events = Json::array();
  for (const JobEvent& event : service.jobs.events(job.id, 0)) events.push_back(to_json(event));
  return {{"job", job_document(service, job)}, {"events", std::move(events)}};
}

Json cancel(Service& service, const Call& call) {
  const auto params = read_fields<IdParams>(call.params, "the parameters of job.cancel");
  service.scheduler.cancel(params.id);
  const Job job = service.jobs.get(params.id);
  return {{"id", job.id}, {"state", to_string(job.state)}, {"cancelling", job.cancelling}};
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

Json watch(Service& service, const Call& call) {
  const auto params = read_fields<WatchParams>(call.params, "the parameters of job.watch");
  const Job job = service.jobs.get(params.id);
  Json events = service.watchers.begin(call.client, job, params.since);
  return {{"job", job_document(service, job)}, {"events", std::move(events)}};
}

}  // namespace

MethodTable job_methods(Service& s) {
  using Where = Method::Where;
  return {
      {"job.submit", "0.1", "queue a job", Where::kLoop,
       [&s](Call& call) { return submit(s, call); }, nullptr},
      {"job.plan", "0.1", "what a job would need", Where::kDeferred, nullptr,
       [&s](Call& call, const Responder& responder) { plan(s, call, responder); }},
      {"job.list", "0.1", "jobs, newest first", Where::kLoop,
       [&s](Call& call) { return list(s, call); }, nullptr},
      {"job.get", "0.1", "one job with its events", Where::kLoop,
       [&s](Call& call) { return get(s, call); }, nullptr},
      {"job.cancel", "0.1", "cancel a job", Where::kLoop,
       [&s](Call& call) { return cancel(s, call); }, nullptr},
      {"job.watch", "0.1", "follow a job", Where::kLoop,
       [&s](Call& call) { return watch(s, call); }, nullptr},
  };
}

}  // namespace moil::daemon
