#include "daemon/jobs/job_intake.h"

#include "base/access.h"
#include "daemon/spec/new_names.h"

namespace moil::daemon {
namespace {

// `pack` says what is wrong with the global pack.
void check_against_state(const ModelStore& models, const JobSpec& spec, const std::string& pointer,
                         const std::string& pack) {
  FieldErrors errors;
  if (const auto wrong = check_new_title(spec.name)) errors.push_back({pointer + "/name", *wrong});
  if (!models.active(spec.model)) {
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

void JobIntake::with_pack(const JobSpec& spec, const std::string& pointer,
                          const Responder& responder, std::function<void()> rest) const {
  const auto go_on = [this, spec, pointer, responder, rest](const std::string& pack) {
    try {
      check_against_state(models, spec, pointer, pack);
      rest();
    } catch (...) {
      responder.error(rpc_error(std::current_exception()));
    }
  };
  const auto hung = [pack = spec.global.pack, go_on](const std::exception_ptr& error) {
    go_on("cannot look at " + pack + ": " + rpc_error(error).message);
  };
  outside.start<std::string>([pack = spec.global.pack] { return complaint_about(pack); }, go_on,
                             hung, responder.user());
}

void JobIntake::check(const JobSpec& spec, const std::string& pointer, const Responder& responder,
                      std::function<Json()> take) const {
  const auto checked = [responder, take = std::move(take)](std::exception_ptr refusal) {
    if (!responder.is_open()) return;  // nobody would know of it
    try {
      if (refusal) std::rethrow_exception(refusal);
      responder.result(take());
    } catch (...) {
      responder.error(rpc_error(std::current_exception()));
    }
  };
  with_pack(spec, pointer, responder,
            [this, spec, responder, checked] { planner.check(spec, responder, checked); });
}

void JobIntake::submit(const JobSpec& spec, bool now, const std::string& pointer,
                       const Responder& responder, const Json& more) const {
  check(spec, pointer, responder, [this, spec, now, more] {
    Json reply = {{"id", jobs.submit(spec, now)}, {"state", "queued"}};
    scheduler.wake();
    reply.update(more);
    return reply;
  });
}

}  // namespace moil::daemon
