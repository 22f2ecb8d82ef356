// The listening Unix socket and its clients.
//
// Whom `Access` serves may connect: the socket file has mode 0600 if it serves nobody but root
// and the daemon's own user, 0660 if it serves a single group that the file can be given to,
// else 0666. Every client is asked for by the system's word (SO_PEERCRED, SO_PEERGROUPS) as well,
// and keeps the role that it has then. The socket of a dead daemon is replaced, and nothing else;
// the lock on the state folder, not the socket, says whether a daemon is running. Loop thread only.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "daemon/loop/event_loop.h"
#include "daemon/rpc/access.h"
#include "daemon/rpc/connection.h"
#include "daemon/rpc/dispatcher.h"

namespace moil::daemon {

class Server {
 public:
  using Hook = std::function<void(const std::shared_ptr<Connection>&)>;

  // kIo if the socket cannot be made; kAlreadyExists if something else listens on it,
  // kFailedPrecondition if something else than a socket is there.
  Server(EventLoop& loop, const std::filesystem::path& path, Dispatcher& dispatcher,
         const Limits& limits, Access access = Access());
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void on_drained(Hook hook) { drained_ = std::move(hook); }
  void on_closed(Hook hook) { closed_ = std::move(hook); }
  std::size_t clients() const { return clients_.size(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  void accept_clients();
  void add(UniqueFd socket);
  std::optional<Caller> caller_of(int socket);
  // Why one more client is not served; empty if it is served.
  std::string no_room_for(uid_t user) const;
  std::shared_ptr<Connection> connection(UniqueFd socket, const Caller& caller);
  void turn_away(UniqueFd socket, const RpcError& error);
  void too_long(const std::shared_ptr<Connection>& client) const;

  EventLoop& loop_;
  const std::filesystem::path path_;
  Dispatcher& dispatcher_;
  const Limits& limits_;
  const Access access_;
  const Budget descriptors_ = Budget::of_descriptors();
  UserTasks tasks_;
  UniqueFd listener_;
  const std::pair<dev_t, ino_t> file_;  // the socket's
  EventLoop::TimerId again_ = 0;        // accepting after a pause
  std::set<std::shared_ptr<Connection>> clients_;
  std::set<uid_t> turned_away_;  // users, to tell of each once
  Hook drained_;
  Hook closed_;
};

}  // namespace moil::daemon
