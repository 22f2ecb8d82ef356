// model.import: a worker validates a stranger's folder and writes it into the model store; the
// daemon reads none of it. Loop thread only.
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "daemon/rpc/method.h"
#include "daemon/service/worker_command.h"
#include "daemon/state/model_store.h"

namespace moil::daemon {

struct ImportRequest {
  std::string name;
  std::string path;
  bool activate = true;
};

class Importer {
 public:
  Importer(EventLoop& loop, const WorkerCommand& command, const StateLayout& layout, Database& db,
           ModelStore& models);
  ~Importer();

  // Answers when the worker is done. kResourceExhausted where too many imports run.
  void start(const ImportRequest& request, const Responder& responder);

 private:
  struct Import;

  void on_line(Import& import, const std::string& line);
  void ended(Import& import, const ProcessExit& exit);
  Json record(const Import& import);

  EventLoop& loop_;
  const WorkerCommand& command_;
  const StateLayout layout_;
  Database& db_;
  ModelStore& models_;
  std::list<std::unique_ptr<Import>> imports_;
};

}  // namespace moil::daemon
