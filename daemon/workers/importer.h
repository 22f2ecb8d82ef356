// model.import: a worker validates a stranger's folder and writes it into the model store; the
// daemon reads none of it. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/rpc/method.h"
#include "daemon/state/model_store.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"

namespace moil::daemon {

struct ImportRequest {
  std::string name;
  std::string path;
  bool activate = true;
  // The global pack that nights of the model will mix from; what cannot be one is refused, and
  // nothing is imported. Empty: none is looked at.
  std::string pack;
  // By name of the model's files: the number of the descriptor that came along; empty: the worker
  // opens them below `path`.
  Json files = Json::object();
};

class Importer {
 public:
  Importer(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
           Database& db, ModelStore& models, std::function<void()> put_in_service);

  // Answers when the worker is done. kResourceExhausted if too many workers run.
  // `files` by name: open ones, which the call owns.
  void start(const ImportRequest& request, const std::map<std::string, int>& files,
             const std::shared_ptr<const void>& owner, const Responder& responder);

 private:
  Json record(const ImportRequest& request, std::int64_t version, const Json& result);

  WorkerCalls& calls_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  Database& db_;
  ModelStore& models_;
  const std::function<void()> put_in_service_;  // called when a version was
};

}  // namespace moil::daemon
