// The listening Unix socket and its clients.
//
// The socket file has mode 0600 and every client's user id is checked again (SO_PEERCRED): the
// daemon's own user and root are served, nobody else. The socket of a dead daemon is replaced, and
// nothing else; the lock on the state folder, not the socket, says whether a daemon is running.
// Loop thread only.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "daemon/loop/event_loop.h"
#include "daemon/rpc/connection.h"
#include "daemon/rpc/dispatcher.h"

namespace moil::daemon {

class Server {
 public:
  using Hook = std::function<void(const std::shared_ptr<Connection>&)>;

  // kIo where the socket cannot be made; kAlreadyExists where something else listens on it,
  // kFailedPrecondition where something else than a socket is there.
  Server(EventLoop& loop, const std::filesystem::path& path, Dispatcher& dispatcher,
         const Limits& limits);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void on_drained(Hook hook) { drained_ = std::move(hook); }
  void on_closed(Hook hook) { closed_ = std::move(hook); }
  std::size_t clients() const { return clients_.size(); }

 private:
  void accept_clients();
  void add(UniqueFd socket);
  void too_long(const std::shared_ptr<Connection>& client) const;

  EventLoop& loop_;
  const std::filesystem::path path_;
  Dispatcher& dispatcher_;
  const Limits& limits_;
  UniqueFd listener_;
  const std::pair<dev_t, ino_t> file_;  // the socket's
  EventLoop::TimerId again_ = 0;        // accepting after a pause
  std::set<std::shared_ptr<Connection>> clients_;
  Hook drained_;
  Hook closed_;
};

}  // namespace moil::daemon
