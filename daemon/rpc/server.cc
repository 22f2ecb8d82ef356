#include "daemon/rpc/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "daemon/log/log.h"
#include "daemon/rpc/address.h"

namespace moil::daemon {
namespace {

constexpr int kWaitingClients = 256;  // until they are accepted; more wait in connect(2)

// What is at the path is removed only if it is the socket of a program that is dead.
void make_way(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return;
    throw system_error("cannot look at the socket " + path.string(), errno);
  }
  if (!S_ISSOCK(info.st_mode)) {
    throw Error(ErrorCode::kFailedPrecondition,
                path.string() + " is there and is no socket, so moild leaves it alone; remove it " +
                    "or give a different --socket");
  }
  if (!is_abandoned(path)) {
    throw Error(ErrorCode::kAlreadyExists,
                "another program listens on " + path.string() + "; give a different --socket");
  }
  ::unlink(path.c_str());
}

// What the file system says of who may connect; clients are asked again when they have.
void open_to(const Access& access, const std::filesystem::path& path) {
  if (!access.serves_others()) return;
  const auto group = access.only_group();
  const bool is_given = group && ::lchown(path.c_str(), static_cast<uid_t>(-1), *group) == 0;
  if (::chmod(path.c_str(), is_given ? 0660 : 0666) != 0)
    throw system_error("cannot set the mode of " + path.string(), errno);
}

// Closed to others from the first moment on: the socket is bound under a private umask.
UniqueFd listen_on(const std::filesystem::path& path, const Access& access) {
  const UnixAddress address(path);
  make_way(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw system_error("cannot create a socket", errno);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd.get(), address.get(), address.size());
  const int bind_error = errno;
  ::umask(before);
  if (bound != 0) throw system_error("cannot bind the socket " + path.string(), bind_error);
  open_to(access, path);
  if (::listen(fd.get(), kWaitingClients) != 0)
    throw system_error("cannot listen on " + path.string(), errno);
  return fd;
}

// Which file is at the path, a name that another may have taken since; none: {0, 0}.
std::pair<dev_t, ino_t> file_at(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

Server::Server(EventLoop& loop, const std::filesystem::path& path, Dispatcher& dispatcher,
               const Limits& limits, Access access)
    : loop_(loop),
      path_(path),
      dispatcher_(dispatcher),
      limits_(limits),
      access_(std::move(access)),
      tasks_(loop),
      listener_(listen_on(path, access_)),
      file_(file_at(path)) {
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { accept_clients(); });
}

Server::~Server() {
  loop_.unwatch(listener_.get());
  loop_.cancel(again_);
  if (file_at(path_) == file_) ::unlink(path_.c_str());
  const auto clients = std::exchange(clients_, {});
  for (const auto& client : clients) client->close();
}

void Server::accept_clients() {
  for (;;) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno != EAGAIN && errno != EINTR) {
        log_warn("cannot accept a client: errno {}", errno);
        // Out of descriptors: the waiting client would wake the loop at once, again and again.
        loop_.change(listener_.get(), 0);
        again_ = loop_.after(std::chrono::seconds(1),
                             [this] { loop_.change(listener_.get(), EPOLLIN); });
      }
      return;
    }
    add(std::move(socket));
  }
}

std::optional<Caller> Server::caller_of(int socket) {
  const auto peer = peer_of(socket);
  if (!peer) return std::nullopt;
  if (const auto role = access_.role_of(*peer)) return Caller{peer->user, *role};
  if (turned_away_.insert(peer->user).second)
    log_warn("clients of user {} are turned away: \"access\" does not name it", peer->user);
  return std::nullopt;
}

std::string Server::no_room_for(uid_t user) const {
  if (clients_.size() >= limits_.clients)
    return std::to_string(limits_.clients) + " clients are connected already";
  const auto own = std::ranges::count_if(
      clients_, [&](const auto& client) { return client->caller().user == user; });
  if (static_cast<std::size_t>(own) < limits_.clients_per_user) return {};
  return std::to_string(own) + " clients of user " + std::to_string(user) +
         " are connected already";
}

void Server::add(UniqueFd socket) {
  const auto caller = caller_of(socket.get());
  if (!caller) {
    return turn_away(std::move(socket),
                     permission_denied("moild does not serve you; an administrator adds you or one "
                                       "of your groups to \"access\" in moild.json and restarts "
                                       "moild, or you to the group moild"));
  }
  if (const std::string full = no_room_for(caller->user); !full.empty())
    return turn_away(std::move(socket), {-32004, full, {{"code", "resource_exhausted"}}});
  const auto client = connection(std::move(socket), *caller);
  clients_.insert(client);
  client->open();
}

void Server::turn_away(UniqueFd socket, const RpcError& error) {
  const auto client = connection(std::move(socket), {});
  client->open();
  client->send(to_line(error_reply(nullptr, error)));
}  // closed by its destruction

std::shared_ptr<Connection> Server::connection(UniqueFd socket, const Caller& caller) {
  Connection::Callbacks callbacks;
  callbacks.line = [this](const auto& client, const std::string& line, auto files) {
    dispatcher_.line(client, line, std::move(files));
  };
  callbacks.too_long = [this](const auto& client) { too_long(client); };
  callbacks.drained = [this](const auto& client) {
    if (drained_) drained_(client);
  };
  callbacks.closed = [this](const auto& client) {
    clients_.erase(client);
    if (closed_) closed_(client);
  };
  return std::make_shared<Connection>(loop_, tasks_, std::move(socket), caller, limits_,
                                      std::move(callbacks), descriptors_);
}

void Server::too_long(const std::shared_ptr<Connection>& client) const {
  const std::string text =
      "a request is larger than the limit of " + std::to_string(limits_.request_bytes) + " bytes";
  client->send(to_line(error_reply(nullptr, rpc_error(kInvalidRequest, text))));
  client->hang_up();
}

}  // namespace moil::daemon
