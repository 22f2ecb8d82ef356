#include "daemon/workers/studies.h"

#include <utility>

#include "daemon/json/parse.h"

namespace moil::daemon {

void Studies::start(const JobSpec& spec, const std::vector<std::string>& options,
                    const Responder& asker, JobPlanner::Progress progress) {
  const std::string what = to_line(
      {{"job", write_fields(spec)}, {"options", options}, {"labels", labels_.newest_change()}});
  if (const auto found = under_way_.find(what); found != under_way_.end())
    return join(found->second, {asker, std::move(progress)});
  const auto work = std::make_shared<Work>();
  join(work, {asker, std::move(progress)});
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
    planner_.start(spec, options, shared, [work](const Json& event) {
      for (const auto& [number, asker] : std::map(work->askers))  // one may leave meanwhile
        if (asker.progress) asker.progress(event);
    });
  } catch (...) {
    under_way_.erase(what);
    throw;
  }
}

void Studies::join(const WorkPtr& work, Asker asker) {
  const std::uint64_t number = next_++;
  const Responder responder = asker.responder;
  work->askers.emplace(number, std::move(asker));
  responder.on_stop([waits_for = std::weak_ptr(work), number] {
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
    error == nullptr ? asker.responder.result(result) : asker.responder.error(*error);
}

}  // namespace moil::daemon
