#include "daemon/rpc/server.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/rpc/address.h"

namespace moil::daemon {
namespace {

// What is at the path is removed only where it is the socket of a program that is dead.
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

// Listens with mode 0600 from the first moment on: the socket is bound under a private umask.
UniqueFd listen_on(const std::filesystem::path& path) {
  const UnixAddress address(path);
  make_way(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw system_error("cannot create a socket", errno);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd.get(), address.get(), address.size());
  const int bind_error = errno;
  ::umask(before);
  if (bound != 0) throw system_error("cannot bind the socket " + path.string(), bind_error);
  if (::listen(fd.get(), 64) != 0) throw system_error("cannot listen on " + path.string(), errno);
  return fd;
}

// Which file is at the path, a name that another may have taken since; none: {0, 0}.
std::pair<dev_t, ino_t> file_at(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

bool is_allowed(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == ::geteuid() || peer.uid == 0) return true;
  spdlog::warn("a client of user {} was turned away", peer.uid);
  return false;
}

}  // namespace

Server::Server(EventLoop& loop, const std::filesystem::path& path, Dispatcher& dispatcher,
               const Limits& limits)
    : loop_(loop),
      path_(path),
      dispatcher_(dispatcher),
      limits_(limits),
      listener_(listen_on(path)),
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
        spdlog::warn("cannot accept a client: errno {}", errno);
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

void Server::add(UniqueFd socket) {
  if (!is_allowed(socket.get())) return;
  const bool full = clients_.size() >= limits_.clients;
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
  const auto client =
      std::make_shared<Connection>(loop_, std::move(socket), limits_, std::move(callbacks));
  if (full) {
    const std::string text = std::to_string(limits_.clients) + " clients are connected already";
    client->open();
    client->send(to_line(error_reply(nullptr, {-32004, text, {{"code", "resource_exhausted"}}})));
    return;  // closed by its destruction
  }
  clients_.insert(client);
  client->open();
}

void Server::too_long(const std::shared_ptr<Connection>& client) const {
  const std::string text =
      "a request is larger than the limit of " + std::to_string(limits_.request_bytes) + " bytes";
  client->send(to_line(error_reply(nullptr, rpc_error(kInvalidRequest, text))));
  client->hang_up();
}

}  // namespace moil::daemon
