// A batch: its requests one after the other, each in a turn of the loop and when the client has
// read most of the replies before, so that a batch costs no more than the same requests by
// themselves. The replies are one line, sent as they come. Loop thread only.
#pragma once

#include <functional>
#include <memory>

#include "daemon/rpc/connection.h"
#include "daemon/rpc/reply.h"

namespace moil::daemon {

class Batch : public std::enable_shared_from_this<Batch> {
 public:
  using Request = std::function<void(const std::shared_ptr<Connection>&, Json request,
                                     std::unique_ptr<ReplyTarget>)>;

  // `items` is a list; begins when the client's requests before are answered.
  static void begin(const std::shared_ptr<Connection>& client, Json items, Request request);

 private:
  class Target;

  Batch(const std::shared_ptr<Connection>& client, Json items, Request request);
  void next();
  void next_soon();
  void put(const std::string& text);

  std::weak_ptr<Connection> client_;
  Json items_;
  const Request request_;
  std::size_t at_ = 0;
  bool any_ = false;  // replies
};

}  // namespace moil::daemon
