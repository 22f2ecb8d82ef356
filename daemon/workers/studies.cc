#include "daemon/workers/studies.h"

#include <utility>

#include "daemon/json/parse.h"

namespace moil::daemon {

void Studies::start(const JobSpec& spec, const std::vector<std::string>& options,
                    const Responder& asker) {
  const std::string what = to_line(
      {{"job", write_fields(spec)}, {"options", options}, {"labels", labels_.newest_change()}});
  if (const auto found = under_way_.find(what); found != under_way_.end())
    return join(found->second, asker);
  const auto work = std::make_shared<Work>();
  join(work, asker);
  begin(spec, options, what, work, asker.user());
}

void Studies::begin(const JobSpec& spec, const std::vector<std::string>& options,
                    const std::string& what, const WorkPtr& work, uid_t user) {
  const Responder shared(
      [this, what, work](const Json& result, const RpcError* error) {
        ended(what, work, result, error);
      },
      user);
  work->stop = shared.stopper(rpc_error(
      std::make_exception_ptr(Error(ErrorCode::kCancelled, "nobody waits for it any more"))));
  under_way_.emplace(what, work);
  try {
    planner_.start(spec, options, shared);
  } catch (...) {
    under_way_.erase(what);
    throw;
  }
}

void Studies::join(const WorkPtr& work, const Responder& asker) {
  const std::uint64_t number = next_++;
  work->askers.emplace(number, asker);
  asker.on_stop([waits_for = std::weak_ptr(work), number] {
    const WorkPtr left = waits_for.lock();
    if (!left) return;
    left->askers.erase(number);
    if (left->askers.empty() && left->stop) left->stop();
  });
}

void Studies::ended(const std::string& what, const WorkPtr& work, const Json& result,
                    const RpcError* error) {
  under_way_.erase(what);
  for (const auto& [number, asker] : std::exchange(work->askers, {}))
    error == nullptr ? asker.result(result) : asker.error(*error);
}

}  // namespace moil::daemon
