// One request's way back: whatever happens to the request, its client gets one reply, of at most
// the size allowed. Loop thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "daemon/json/parse.h"  // to_line
#include "daemon/rpc/error.h"

namespace moil::daemon {

// Where a reply goes. Its destruction is the request's end.
class ReplyTarget {
 public:
  ReplyTarget() = default;
  virtual ~ReplyTarget() = default;
  ReplyTarget(const ReplyTarget&) = delete;
  ReplyTarget& operator=(const ReplyTarget&) = delete;
  virtual void put(const std::string& text) = 0;
};

class Reply {
 public:
  // `wanted` false (a notification): nothing is put.
  Reply(Json id, bool wanted, std::size_t most_bytes, std::unique_ptr<ReplyTarget> target);
  ~Reply();  // with an error if there was no answer
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  void result(Json value);  // an error in its place if it is too large
  void error(const RpcError& error);

 private:
  void put(const std::string& text);

  Json id_;
  bool open_;  // wanted, and not answered yet
  std::size_t most_bytes_;
  std::unique_ptr<ReplyTarget> target_;
};

// The document of an error reply; `id` is null if the request's could not be read.
Json error_reply(const Json& id, const RpcError& error);
// A notification's line: {"jsonrpc":"2.0","method":...,"params":...}.
std::string notification(const std::string& method, const Json& params);

}  // namespace moil::daemon
