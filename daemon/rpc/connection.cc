#include "daemon/rpc/connection.h"

#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "daemon/rpc/receive.h"

namespace moil::daemon {

Connection::Connection(EventLoop& loop, UniqueFd socket, const Limits& limits, Callbacks callbacks)
    : loop_(loop), socket_(std::move(socket)), limits_(limits), callbacks_(std::move(callbacks)) {}

Connection::~Connection() {
  callbacks_ = {};
  close();
}

void Connection::open() {
  // The watch keeps the connection alive while one of its handlers runs.
  loop_.watch(socket_.get(), EPOLLIN, [self = weak_from_this()](std::uint32_t events) {
    if (const auto connection = self.lock()) connection->on_ready(events);
  });
}

void Connection::close() {
  if (!socket_) return;
  loop_.cancel(request_timer_);
  loop_.cancel(output_timer_);
  loop_.unwatch(socket_.get());
  socket_.reset();
  output_.clear();
  files_.clear();
  if (callbacks_.closed) callbacks_.closed(shared_from_this());
}

void Connection::send(const std::string& line) {
  if (!socket_ || shut_) return;
  output_ += line;
  output_ += '\n';
  write_some();
  if (socket_ && output_.size() > limits_.output_bytes) {
    spdlog::warn("a client does not read its replies ({} bytes wait): dropped", output_.size());
    close();
  }
}

void Connection::hang_up() {
  if (!socket_) return;
  hanging_up_ = true;
  input_.clear();
  files_.clear();
  watch_request_time();  // a client that never closes its side does not stay for ever
  write_some();
}

void Connection::end_request() {
  --in_flight_;
  if (!socket_) return;
  take_lines();
  if (socket_) update_watch();
}

void Connection::on_ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) {
    write_some();
    if (socket_) take_lines();  // they may have waited for the output to drain
  }
  if (!socket_ || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
  if (!read_some()) return close();
  take_lines();
  if (socket_) update_watch();
}

bool Connection::read_some() {
  char chunk[1 << 16];
  const ssize_t n = receive(socket_.get(), chunk, sizeof chunk, files_);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (hanging_up_ || files_.size() > limits_.descriptors) {
    files_.clear();
    return hanging_up_;
  }
  input_.append(chunk, static_cast<std::size_t>(n));
  return true;
}

void Connection::take_lines() {
  if (taking_) return;  // a handler that answered at once: the outer call goes on
  taking_ = true;
  while (socket_ && !hanging_up_ && !paused()) {
    const std::size_t end = input_.find('\n', scanned_);
    if (end == std::string::npos || end > limits_.request_bytes) {
      scanned_ = input_.size();
      if (input_.size() > limits_.request_bytes) callbacks_.too_long(shared_from_this());
      break;
    }
    std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    scanned_ = 0;
    loop_.cancel(std::exchange(request_timer_, 0));
    if (line.empty() || line == "\r") continue;
    callbacks_.line(shared_from_this(), std::move(line), std::exchange(files_, {}));
  }
  taking_ = false;
  if (socket_) watch_request_time();
}

bool Connection::paused() const {
  return in_flight_ >= limits_.in_flight || output_.size() > limits_.output_bytes / 2;
}

void Connection::write_some() {
  const std::size_t before = output_.size();
  std::size_t sent = 0;
  while (sent < output_.size()) {
    const ssize_t n = ::send(socket_.get(), output_.data() + sent, output_.size() - sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) return close();
    if (n < 0) break;
    sent += static_cast<std::size_t>(n);
  }
  output_.erase(0, sent);
  if (sent > 0) loop_.cancel(std::exchange(output_timer_, 0));
  watch_output_time();
  if (output_.empty() && hanging_up_ && !shut_) {
    shut_ = true;
    ::shutdown(socket_.get(), SHUT_WR);
  }
  update_watch();
  if (before > 0 && output_.empty() && callbacks_.drained) callbacks_.drained(shared_from_this());
}

void Connection::update_watch() {
  std::uint32_t events = output_.empty() ? 0U : EPOLLOUT;
  if (!paused() || hanging_up_) events |= EPOLLIN;
  loop_.change(socket_.get(), events);
}

void Connection::watch_request_time() {
  const bool waiting_for_end = hanging_up_ || (!input_.empty() && !paused());
  if (!waiting_for_end) {
    loop_.cancel(std::exchange(request_timer_, 0));
  } else if (request_timer_ == 0) {
    request_timer_ = loop_.after(limits_.request_time, [self = weak_from_this()] {
      if (const auto connection = self.lock()) connection->close();
    });
  }
}

void Connection::watch_output_time() {
  if (output_.empty() || output_timer_ != 0) return;
  output_timer_ = loop_.after(limits_.output_time, [self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->close();
  });
}

}  // namespace moil::daemon
