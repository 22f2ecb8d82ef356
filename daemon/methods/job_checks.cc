#include "daemon/methods/job_checks.h"

#include "base/access.h"
#include "daemon/service/service.h"
#include "daemon/spec/new_names.h"

namespace moil::daemon {
namespace {

// `pack` says what is wrong with the global pack.
void check_against_state(const Service& service, const JobSpec& spec, const std::string& pointer,
                         const std::string& pack) {
  FieldErrors errors;
  if (const auto wrong = check_new_title(spec.name)) errors.push_back({pointer + "/name", *wrong});
  if (!service.models.active(spec.model)) {
    errors.push_back({pointer + "/model", "there is no active model \"" + spec.model +
                                              "\"; import it first (model.import)"});
  }
  if (!pack.empty()) errors.push_back({pointer + "/global/pack", pack});
  if (!errors.empty()) throw ValidationError("the job description", std::move(errors));
}

std::string complaint_about(const std::string& pack) {
  try {
    require_readable(pack);
    return {};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) return error.what();
    return std::string(error.what()) +
           ". A pack is needed in every night: copy it to where moild may read it, such as "
           "/var/lib/moil-packs, or let the service see its folder (docs/security.md)";
  }
}

}  // namespace

void with_pack(Service& service, const JobSpec& spec, const std::string& pointer,
               const Responder& responder, std::function<void()> rest) {
  const auto go_on = [&service, spec, pointer, responder, rest](const std::string& pack) {
    try {
      check_against_state(service, spec, pointer, pack);
      rest();
    } catch (...) {
      responder.error(rpc_error(std::current_exception()));
    }
  };
  const auto hung = [pack = spec.global.pack, go_on](const std::exception_ptr& error) {
    go_on("cannot look at " + pack + ": " + rpc_error(error).message);
  };
  service.outside.start<std::string>([pack = spec.global.pack] { return complaint_about(pack); },
                                     go_on, hung, responder.user());
}

void submit_job(Service& service, const JobSpec& spec, bool now, const std::string& pointer,
                const Responder& responder, const Json& more) {
  const auto queue = [&service, spec, now, responder, more](std::exception_ptr refusal) {
    if (!responder.is_open()) return;  // nobody would know of it
    try {
      if (refusal) std::rethrow_exception(refusal);
      Json reply = {{"id", service.jobs.submit(spec, now)}, {"state", "queued"}};
      service.scheduler.wake();
      reply.update(more);
      responder.result(reply);
    } catch (...) {
      responder.error(rpc_error(std::current_exception()));
    }
  };
  with_pack(service, spec, pointer, responder,
            [&service, spec, responder, queue] { service.planner.check(spec, responder, queue); });
}

}  // namespace moil::daemon
