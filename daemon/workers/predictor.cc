#include "daemon/workers/predictor.h"

namespace moil::daemon {

Predictor::Predictor(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
                     const ModelStore& models)
    : calls_(calls),
      command_(command),
      layout_(layout),
      models_(models),
      listening_(std::make_shared<std::multiset<uid_t>>()) {}

ModelVersion Predictor::active(const std::string& model) const {
  if (!model.empty()) {
    if (auto version = models_.active(model)) return *version;
    throw Error(ErrorCode::kNotFound, "there is no active version of model \"" + model + "\"");
  }
  std::vector<ModelVersion> found;
  std::string names;
  for (ModelVersion& version : models_.list()) {
    if (!version.active) continue;
    names += (names.empty() ? "" : ", ") + version.model;
    found.push_back(std::move(version));
  }
  if (found.empty())
    throw Error(ErrorCode::kNotFound, "there is no model; import one first (model.import)");
  if (found.size() > 1)
    throw Error(ErrorCode::kInvalidArgument, "there are several models; name one of: " + names);
  return found.front();
}

void Predictor::start(const std::string& model, const std::vector<int>& descriptors,
                      const WorkerCommand::PredictionWanted& wanted, const Responder& responder,
                      const std::shared_ptr<const void>& owner) {
  const ModelVersion version = active(model);
  WorkerCalls::Answer answer;
  answer.result = [responder, version, owner](const Json& result) {
    responder.result({{"model", version.model},
                      {"version", version.version},
                      {"predictions", result.at("predictions")}});
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  const auto folder = layout_.version(version.model, version.version);
  calls_.start(command_.predict(folder, descriptors, wanted), std::move(answer));
}

// Until the request is answered.
void Predictor::take_place(const Responder& responder) {
  constexpr MostListening kMost;
  const uid_t user = responder.user();
  if (std::ssize(*listening_) >= kMost.together || listening_->count(user) >= kMost.user)
    throw Error(ErrorCode::kResourceExhausted, "a user may listen to " +
                                                   std::to_string(kMost.user) +
                                                   " sounds at once, and all users together to " +
                                                   std::to_string(kMost.together) + "; end one");
  const auto place = listening_->insert(user);
  responder.keep(std::shared_ptr<const void>(
      nullptr, [all = listening_, place](const void*) { all->erase(place); }));
}

void Predictor::listen(const std::string& model, int sound,
                       const WorkerCommand::ListeningWanted& wanted, const Responder& responder,
                       const std::shared_ptr<const void>& owner, Heard heard) {
  const ModelVersion version = active(model);
  WorkerCalls::Answer answer;
  answer.result = [responder, version, owner](Json result) {
    result["model"] = version.model;
    result["version"] = version.version;
    responder.result(std::move(result));
  };
  answer.error = [responder](std::exception_ptr error) { responder.error(rpc_error(error)); };
  answer.whose = responder;
  answer.progress = std::move(heard);
  take_place(responder);
  const auto folder = layout_.version(version.model, version.version);
  calls_.start(command_.listen(folder, sound, wanted), std::move(answer));
}

}  // namespace moil::daemon
