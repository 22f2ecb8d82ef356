// From a line to replies: JSON-RPC 2.0 requests, notifications and batches, looked up in the
// method table. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/loop/background.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/method.h"
#include "daemon/rpc/reply.h"
#include "daemon/rpc/request_counts.h"

namespace moil::daemon {

class Dispatcher {
 public:
  // The table is constant from here on and outlives the dispatcher, as do the others.
  Dispatcher(const MethodTable& methods, Background& background, const Limits& limits,
             RequestCounts& counts);

  void line(const std::shared_ptr<Connection>& client, const std::string& line,
            std::vector<UniqueFd> files);
  std::uint64_t taken() const { return taken_; }  // lines so far

 private:
  class Line;

  void take(const std::shared_ptr<Connection>& client, const std::string& line,
            std::vector<UniqueFd> files);
  void batch(const std::shared_ptr<Connection>& client, Json requests);
  void request(const std::shared_ptr<Connection>& client, const Json& request,
               std::vector<UniqueFd> files, std::unique_ptr<ReplyTarget> target);
  void start(const Method& method, Call call, const Responder& responder);
  void start_in_background(const Method& method, Call call, const Responder& responder);
  const Method* find(const std::string& name) const;
  RpcError unknown_method(const std::string& name) const;

  const MethodTable& methods_;
  Background& background_;
  const Limits& limits_;
  std::uint64_t taken_ = 0;
  RequestCounts& counts_;
};

// Runs `work` on the background thread, when it is the client's turn, and answers with what it
// returns or throws.
void answer_in_background(Background& background, const Responder& responder,
                          std::function<Json()> work);

}  // namespace moil::daemon
