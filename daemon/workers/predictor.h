// model.predict and listen: a worker decodes samples, or a sound that comes, and runs the model on
// them. Loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/rpc/method.h"
#include "daemon/state/model_store.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

class Predictor {
 public:
  Predictor(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
            const ModelStore& models);

  // Answers with what the active version of `model` says (docs/protocol.md, model.predict); the
  // only model with an active version if the name is empty. descriptors: as
  // WorkerCommand::predict; `owner` holds them. kNotFound or kInvalidArgument.
  void start(const std::string& model, const std::vector<int>& descriptors,
             const WorkerCommand::PredictionWanted& wanted, const Responder& responder,
             const std::shared_ptr<const void>& owner);

  // Of model.listen: who listens for days holds no worker's turn.
  struct MostListening {
    int together = 8;
    int user = 4;
  };
  // Answers when the sound has ended (docs/protocol.md, model.listen). heard: gets the worker's
  // events before. The rest as above, and kResourceExhausted if the user, or all users together,
  // listen to as much as they may.
  using Heard = std::function<void(const Json& event)>;
  void listen(const std::string& model, int sound, const WorkerCommand::ListeningWanted& wanted,
              const Responder& responder, const std::shared_ptr<const void>& owner, Heard heard);

 private:
  void take_place(const Responder& responder);
  ModelVersion active(const std::string& model) const;

  WorkerCalls& calls_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  const ModelStore& models_;
  const std::shared_ptr<std::multiset<uid_t>> listening_;  // whose sounds they are
};

}  // namespace moil::daemon
