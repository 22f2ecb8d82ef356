#include "daemon/workers/studies.h"

#include <algorithm>
#include <utility>

#include "daemon/json/parse.h"

namespace moil::daemon {

void Studies::start(const JobSpec& spec, const std::vector<std::string>& options,
                    const Responder& asker, JobPlanner::Progress progress) {
  const auto active = models_.active(spec.model);
  const std::string what = to_line({{"job", write_fields(spec)},
                                    {"options", options},
                                    {"version", active ? active->version : 0},
                                    {"labels", labels_.newest_change()}});
  if (const Json* result = known(what)) return asker.result(*result);
  if (const auto found = under_way_.find(what); found != under_way_.end())
    return join(found->second, {asker, std::move(progress)});
  const auto work = std::make_shared<Work>();
  work->labels = kept_labels_;
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
  if (error == nullptr) keep(what, *work, result);
  for (const auto& [number, asker] : std::exchange(work->askers, {}))
    error == nullptr ? asker.responder.result(result) : asker.responder.error(*error);
}

const Json* Studies::known(const std::string& what) {
  const std::int64_t labels = labels_.state_number();
  if (std::exchange(kept_labels_, labels) != labels) kept_.clear();
  const auto found = std::ranges::find(kept_, what, &Kept::what);
  return found == kept_.end() ? nullptr : &found->result;
}

// Few, and no long ones: the daemon stays small.
void Studies::keep(const std::string& what, const Work& work, const Json& result) {
  constexpr std::size_t kMost = 4, kMostBytes = 1 << 20;
  if (work.labels != kept_labels_ || work.labels != labels_.state_number()) return;
  if (to_line(result).size() > kMostBytes) return;
  kept_.push_front({what, result});
  if (kept_.size() > kMost) kept_.pop_back();
}

}  // namespace moil::daemon
