// A connection to the daemon, one request at a time. Not thread-safe.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/rpc/address.h"

namespace moil::daemon {

// The daemon answered with an error.
class ReplyError : public std::runtime_error {
 public:
  explicit ReplyError(Json error_object);
  const Json& error() const { return error_; }  // {"code", "message", "data"}

 private:
  Json error_;
};

class Client {
 public:
  // kIo or kNotFound if nobody listens.
  explicit Client(const std::string& socket);

  using OnNotification = std::function<void(const Json& notification)>;
  // The result, or ReplyError. Descriptors go along with the request. `tell` gets the notifications
  // that come in between; without it, next_notification() has them.
  Json call(const std::string& method, const Json& params, std::span<const int> files = {},
            const OnNotification& tell = {});
  // Called some times a second while something is waited for. What it throws ends the call, and
  // the connection is of no more use.
  void while_waiting(std::function<void()> look) { look_ = std::move(look); }
  Json next_notification();  // waits
  // Whether the next one need not be waited for; until then, this becomes readable.
  bool has_notification() const;
  int descriptor() const { return socket_.get(); }

 private:
  void send(const std::string& line, std::span<const int> files);
  Json read_message();

  void wait() const;

  std::function<void()> look_;
  UniqueFd socket_;
  std::string buffer_;
  std::vector<Json> notifications_;
  int next_id_ = 1;
};

}  // namespace moil::daemon
