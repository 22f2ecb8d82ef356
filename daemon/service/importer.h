// model.import: a worker validates a stranger's folder and writes it into the model store; the
// daemon reads none of it. Loop thread only.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "daemon/rpc/method.h"
#include "daemon/service/worker_calls.h"
#include "daemon/service/worker_command.h"
#include "daemon/state/model_store.h"

namespace moil::daemon {

struct ImportRequest {
  std::string name;
  std::string path;
  bool activate = true;
  // Of the model's files, by name: the number of the descriptor that came along; empty: the worker
  // opens them below `path`.
  Json files = Json::object();
};

class Importer {
 public:
  Importer(WorkerCalls& calls, const WorkerCommand& command, const StateLayout& layout,
           Database& db, ModelStore& models);

  // Answers when the worker is done. kResourceExhausted where too many workers run.
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
};

}  // namespace moil::daemon
