// What is looked at before a job, or a schedule of jobs, is taken.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/rpc/method.h"
#include "daemon/spec/job_spec.h"

namespace moil::daemon {

class Service;

// The deadline of a method that looks at a job: at its pack, and by a worker.
inline constexpr std::chrono::minutes kCheckTime{2};

// Looks at the pack, which may lie on a disk that hangs, and at what cannot be seen from the
// description alone, then does the rest on the loop; else answers with what is wrong, at fields
// below `pointer`.
void with_pack(Service& service, const JobSpec& spec, const std::string& pointer,
               const Responder& responder, std::function<void()> rest);

// The same; then a worker plans the job, and it is queued. Answers {"id", "state"} and what
// `more` has, or what is wrong with it.
void submit_job(Service& service, const JobSpec& spec, bool now, const std::string& pointer,
                const Responder& responder, const Json& more = Json::object());

}  // namespace moil::daemon
