// label.preview: small pictures of samples. The label store hands their files to a worker, which
// decodes them: moild does not. Its files are opened when it is the user's turn to have a worker,
// so that what waits holds none. Loop thread only.
#pragma once

#include <vector>

#include "daemon/loop/background.h"
#include "daemon/rpc/method.h"
#include "daemon/workers/worker_calls.h"
#include "daemon/workers/worker_command.h"
#include "datasets/labels/label_store.h"

namespace moil::daemon {

class Previewer {
 public:
  Previewer(Background& background, const data::LabelStore& labels, WorkerCalls& calls,
            const WorkerCommand& command);

  // Answers with the reply of label.preview (docs/protocol.md). A sample of which there is no
  // picture has an "error" in its place. size: the longer side's, in pixels.
  void start(std::vector<data::Digest> digests, int size, const Responder& responder);

 private:
  struct Request;
  void ask_worker(const std::shared_ptr<Request>& request, const Responder& responder);

  Background& background_;
  const data::LabelStore& labels_;
  WorkerCalls& calls_;
  const WorkerCommand& command_;
};

}  // namespace moil::daemon
