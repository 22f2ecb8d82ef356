// model.learn
#include "daemon/jobs/job_intake.h"
#include "daemon/methods/learn_pattern.h"
#include "daemon/methods/methods.h"
#include "daemon/spec/learn_spec.h"
#include "daemon/state/schedule_store.h"

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

void learn(const LearnRequest& request, const Responder& responder, const JobIntake& intake,
           const JobStore& jobs, const ScheduleStore& schedules) {
  const std::string what = "the parameters of model.learn";
  const auto spec = learn_spec(request, learn_pattern(jobs, schedules, request.model));
  if (!spec)
    throw ValidationError(what, {{"/pack", "no job and no schedule of model \"" + request.model +
                                               "\" tells which global pack is its own; name it"}});
  if (const FieldErrors wrong = check_job(*spec); !wrong.empty())
    throw ValidationError(what, wrong);
  intake.submit(*spec, true, "", responder, {{"pack", spec->global.pack}});
}

}  // namespace

MethodTable learn_methods(const Parts& by) {
  return {{"model.learn", "0.2", Role::kOperate, "learn new labels at once", Method::Lane::kWorker,
           by(learn), kCheckTime}};
}

}  // namespace moil::daemon
