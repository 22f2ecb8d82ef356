// From a line to replies: JSON-RPC 2.0 requests, notifications and batches, looked up in the
// method table, and begun where and when their row of it says. Loop thread only.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/loop/background.h"
#include "daemon/rpc/limits.h"
#include "daemon/rpc/method.h"
#include "daemon/rpc/reply.h"
#include "daemon/rpc/request_counts.h"
#include "daemon/rpc/sent_files.h"
#include "daemon/rpc/user_turns.h"

namespace moil::daemon {

class Dispatcher {
 public:
  // Where methods are carried out.
  struct Places {
    EventLoop& loop;
    Background& reading;
    Background& writing;
    UserTurns& workers;
    // Calls when what was done so far survives a power cut, with an error if it does not. Who
    // may have changed something is answered then. Empty: it always does.
    std::function<void(std::function<void(const std::exception_ptr& error)>)> when_kept = {};
  };

  // The table is constant from here on and outlives the dispatcher, as do the others.
  Dispatcher(const MethodTable& methods, const Places& places, const Limits& limits,
             RequestCounts& counts);

  void line(const std::shared_ptr<Connection>& client, const std::string& line, SentFiles files);
  std::uint64_t taken() const { return taken_; }  // lines so far

 private:
  class Line;

  void take(const std::shared_ptr<Connection>& client, const std::string& line, SentFiles files);
  void batch(const std::shared_ptr<Connection>& client, Json requests);
  void request(const std::shared_ptr<Connection>& client, const Json& request, SentFiles files,
               std::unique_ptr<ReplyTarget> target);
  void answer(const std::shared_ptr<Reply>& reply, Json result, const RpcError* error,
              bool changes) const;
  void start(const Method& method, Call call, const Responder& responder);
  void begin(const Method& method, const std::shared_ptr<Call>& call, const Responder& responder);
  void begin_worker(const Method& method, const std::shared_ptr<Call>& call,
                    const Responder& responder);
  const Method* find(const std::string& name) const;
  RpcError unknown_method(const std::string& name) const;

  const MethodTable& methods_;
  const Places places_;
  const Limits& limits_;
  std::uint64_t taken_ = 0;
  RequestCounts& counts_;
};

// Runs `work` on the background's thread and answers with what it returns or throws.
void answer_in_background(Background& background, const Responder& responder,
                          std::function<Json()> work);

}  // namespace moil::daemon
