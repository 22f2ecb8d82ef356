// model.learn
#include "daemon/learn_spec.h"
#include "daemon/methods/job_checks.h"
#include "daemon/methods/methods.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

std::optional<std::string> check_pack(const std::string& pack) {
  if (pack.empty() || pack[0] == '/') return std::nullopt;
  return "expected an absolute path, found \"" + pack + "\"";
}

}  // namespace

const Fields<LearnRequest>& fields_of(const LearnRequest*) {
  static const Fields<LearnRequest> table = {
      field("model", &LearnRequest::model, Need::kRequired, check_name),
      field("labels", &LearnRequest::labels),
      field("pack", &LearnRequest::pack, Need::kOptional, check_pack),
  };
  return table;
}

namespace {

std::optional<int> number(const Json& json, const char* pointer) {
  const Json value = json.value(Json::json_pointer(pointer), Json());
  return value.is_number_integer() ? std::optional(value.get<int>()) : std::nullopt;
}

// The model's latest job that came to a verdict.
std::optional<LearnPattern> last_job(const Service& service, const std::string& model) {
  std::optional<LearnPattern> found;
  service.jobs.list(std::nullopt, 0, Details::kWith, [&](const Job& job) {
    const bool judged =
        job.state == JobState::kSucceeded || job.state == JobState::kRejectedByGuard;
    if (job.spec.model != model || !judged || !job.result.is_object()) return true;
    found = LearnPattern{job.spec, number(job.result, "/details/freeze/trained_units"),
                         number(job.result, "/details/freeze/units")};
    return false;
  });
  return found;
}

std::optional<LearnPattern> schedule_of(const Service& service, const std::string& model) {
  for (const Schedule& schedule : service.schedules.all())
    if (schedule.spec.job.model == model) return LearnPattern{schedule.spec.job, {}, {}};
  return std::nullopt;
}

void learn(Service& service, const Call& call, const Responder& responder) {
  const std::string what = "the parameters of model.learn";
  const auto request = read_fields<LearnRequest>(call.params, what);
  auto pattern = last_job(service, request.model);
  if (!pattern) pattern = schedule_of(service, request.model);
  const auto spec = learn_spec(request, pattern);
  if (!spec)
    throw ValidationError(what, {{"/pack", "no job and no schedule of model \"" + request.model +
                                               "\" tells which global pack is its own; name it"}});
  if (const FieldErrors wrong = check_job(*spec); !wrong.empty())
    throw ValidationError(what, wrong);
  submit_job(service, *spec, true, "", responder, {{"pack", spec->global.pack}});
}

}  // namespace

MethodTable learn_methods(Service& s) {
  return {{"model.learn", "0.2", Role::kOperate, "learn new labels at once",
           Method::Where::kDeferred, nullptr,
           [&s](Call& call, const Responder& responder) { learn(s, call, responder); }}};
}

}  // namespace moil::daemon
