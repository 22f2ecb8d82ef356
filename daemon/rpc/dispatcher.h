// From a line to replies: JSON-RPC 2.0 requests, notifications and batches, looked up in the
// method table. A batch's replies go out together when the last one is there. Loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/loop/background.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/method.h"

namespace moil::daemon {

class Dispatcher {
 public:
  // The table is constant from here on and outlives the dispatcher, as do the others.
  Dispatcher(const MethodTable& methods, Background& background, const Limits& limits);

  void line(const std::shared_ptr<Connection>& client, const std::string& line,
            std::vector<UniqueFd> files);

 private:
  class Replies;

  void request(const std::shared_ptr<Connection>& client, const Json& request,
               std::vector<UniqueFd> files, const std::shared_ptr<Replies>& replies);
  void start(const Method& method, Call call, const Responder& responder);
  void start_in_background(const Method& method, Call call, const Responder& responder);
  const Method* find(const std::string& name) const;
  RpcError unknown_method(const std::string& name) const;

  const MethodTable& methods_;
  Background& background_;
  const Limits& limits_;
};

// Runs `work` on the background thread and answers with what it returns or throws.
void answer_in_background(Background& background, const Responder& responder,
                          std::function<Json()> work);

// The document of an error reply; `id` is null where the request's could not be read.
Json error_reply(const Json& id, const RpcError& error);
// A notification's line: {"jsonrpc":"2.0","method":...,"params":...}.
std::string notification(const std::string& method, const Json& params);
// Any document as one line; bytes that are not UTF-8 are replaced.
std::string to_line(const Json& document);

}  // namespace moil::daemon
