// model.learn
#include "daemon/methods/job_checks.h"
#include "daemon/methods/learn_pattern.h"
#include "daemon/methods/methods.h"
#include "daemon/service/service.h"
#include "daemon/spec/learn_spec.h"

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

void learn(Service& service, const Call& call, const Responder& responder) {
  const std::string what = "the parameters of model.learn";
  const auto request = read_fields<LearnRequest>(call.params, what);
  const auto spec = learn_spec(request, learn_pattern(service, request.model));
  if (!spec)
    throw ValidationError(what, {{"/pack", "no job and no schedule of model \"" + request.model +
                                               "\" tells which global pack is its own; name it"}});
  if (const FieldErrors wrong = check_job(*spec); !wrong.empty())
    throw ValidationError(what, wrong);
  submit_job(service, *spec, true, "", responder, {{"pack", spec->global.pack}});
}

}  // namespace

MethodTable learn_methods(Service& s) {
  return {{"model.learn", "0.2", Role::kOperate, "learn new labels at once", Method::Lane::kWorker,
           nullptr, [&s](Call& call, const Responder& responder) { learn(s, call, responder); },
           kCheckTime}};
}

}  // namespace moil::daemon
