#include "daemon/rpc/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "daemon/log/log.h"
#include "daemon/rpc/receive.h"

namespace moil::daemon {

Connection::Connection(EventLoop& loop, UserTasks& tasks, UniqueFd socket, const Caller& caller,
                       const Limits& limits, Callbacks callbacks, Budget descriptors)
    : loop_(loop),
      tasks_(tasks),
      socket_(std::move(socket)),
      caller_(caller),
      limits_(limits),
      callbacks_(std::move(callbacks)),
      descriptors_(std::move(descriptors)),
      lane_(std::make_shared<Lane>(loop, [this] { return socket_ && has_room(); })),
      pace_(limits.requests_per_second) {}

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
  loop_.cancel(pace_timer_);
  loop_.unwatch(socket_.get());
  socket_.reset();
  drop_output();
  sent_files_ = {};
  tell_gone();
  lane_->drop();
  when_room_.clear();
  begin_alone_ = nullptr;
  if (callbacks_.closed) callbacks_.closed(shared_from_this());
}

void Connection::send(const std::string& line) {
  if (!socket_ || shut_ || deaf_) return;
  std::string& queue = in_parts_ ? held_ : output_;
  queue += line;
  queue += '\n';
  if (!in_parts_) return write_some();
  blocked_ = true;
}

void Connection::send_part(std::string_view part) {
  if (!socket_ || shut_ || deaf_) return;
  in_parts_ = true;
  output_ += part;
  write_some();
}

void Connection::end_parts() {
  if (!std::exchange(in_parts_, false) || !socket_ || deaf_) return;
  output_ += '\n';
  output_ += std::exchange(held_, {});
  write_some();
}

void Connection::hang_up() {
  if (!socket_) return;
  hanging_up_ = true;
  input_.clear();
  sent_files_ = {};
  watch_request_time();  // a client that never closes its side does not stay for ever
  write_some();
}

void Connection::when_room(EventLoop::Task task) {
  if (!socket_) return;
  if (has_room()) return tasks_.add(caller_.user, std::move(task));
  when_room_.push_back(std::move(task));
}

void Connection::begin_request(std::size_t bytes) {
  ++in_flight_;
  in_flight_bytes_ += bytes;
}

void Connection::end_request(std::size_t bytes) {
  --in_flight_;
  in_flight_bytes_ -= bytes;
  if (in_flight_ == 0 && begin_alone_) loop_.post(std::exchange(begin_alone_, nullptr));
  take_soon();
}

void Connection::when_gone(std::weak_ptr<const void> token, EventLoop::Task task) {
  if (!socket_ || gone_) return loop_.post(std::move(task));
  std::erase_if(when_gone_, [](const auto& entry) { return entry.first.expired(); });
  when_gone_.emplace_back(std::move(token), std::move(task));
}

// Later: what is given up may begin what comes next.
void Connection::tell_gone() {
  for (auto& [token, task] : std::exchange(when_gone_, {}))
    if (!token.expired()) loop_.post(std::move(task));
}

void Connection::count_requests(std::size_t more) {
  pace_.take(static_cast<double>(more));
  const auto pause = pace_.pause();
  if (pause.count() == 0 || pace_timer_ != 0) return;
  pace_timer_ = loop_.after(pause, [self = weak_from_this()] {
    const auto connection = self.lock();
    if (!connection || !connection->socket_) return;
    connection->pace_timer_ = 0;
    connection->count_requests(0);  // if others came in the meantime
    connection->take_soon();
  });
}

void Connection::alone(EventLoop::Task begin) {
  alone_ = true;
  begin_alone_ = std::move(begin);
  if (in_flight_ == 0) loop_.post(std::exchange(begin_alone_, nullptr));
}

void Connection::end_alone() {
  alone_ = false;
  take_soon();
}

void Connection::on_ready(std::uint32_t events) {
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) return on_gone();
  if ((events & EPOLLOUT) != 0) write_some();
  if (socket_ && (events & EPOLLIN) != 0) read_some();
  take_soon();
}

// What it has sent before is still there to be read, and to be carried out.
void Connection::on_gone() {
  while (socket_ && !ended_ && read_some()) {
  }
  if (!socket_) return;
  ended_ = deaf_ = gone_ = true;
  drop_output();
  loop_.unwatch(socket_.get());
  if (hanging_up_) return close();
  tell_gone();
  on_room();
  take_soon();
}

// Whether there may be more.
bool Connection::read_some() {
  char chunk[1 << 16];
  const std::size_t before = sent_files_.files.size();
  const ssize_t n = receive(socket_.get(), chunk, sizeof chunk, sent_files_.files);
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) return false;
  if (n <= 0) {
    ended_ = true;
    if (hanging_up_) close();
    return false;
  }
  if (hanging_up_) {
    sent_files_ = {};
    return true;
  }
  if (sent_files_.files.size() + sent_files_.refused > limits_.descriptors) {
    close();
    return false;
  }
  account_for(sent_files_.files.size() - before);
  input_.append(chunk, static_cast<std::size_t>(n));
  return true;
}

// What just came; if the user has too many, they are closed at once and the request is refused.
void Connection::account_for(std::size_t files) {
  if (files == 0) return;
  auto charge = descriptors_.take(caller_.user, files);
  if (charge && sent_files_.refused == 0) return sent_files_.charge.add(std::move(*charge));
  sent_files_.refused += files;
  sent_files_.files.resize(sent_files_.files.size() - files);
}

void Connection::take_soon() {
  if (!socket_ || taking_soon_) return;
  taking_soon_ = true;
  update_watch();
  tasks_.add(caller_.user, [self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->take_line();
  });
}

void Connection::take_line() {
  taking_soon_ = false;
  if (!socket_) return;
  try {
    if (!hanging_up_ && !paused() && take_one()) {
      take_soon();
    } else {
      close_if_done();
    }
  } catch (const std::exception& error) {
    log_error("a client's line cannot be handled: {}", error.what());
    return close();
  }
  if (!socket_) return;
  watch_request_time();
  update_watch();
}

// Whether there was one.
bool Connection::take_one() {
  const std::size_t end = input_.find('\n', scanned_);
  if (end == std::string::npos || end > limits_.request_bytes) {
    scanned_ = input_.size();
    if (input_.size() > limits_.request_bytes) callbacks_.too_long(shared_from_this());
    return false;
  }
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  scanned_ = 0;
  loop_.cancel(std::exchange(request_timer_, 0));
  if (line.empty() || line == "\r") return true;
  count_requests(1);
  callbacks_.line(shared_from_this(), std::move(line), std::exchange(sent_files_, {}));
  return true;
}

bool Connection::paused() const {
  return alone_ || pace_timer_ != 0 || in_flight_ >= limits_.in_flight ||
         in_flight_bytes_ >= limits_.request_bytes || !has_room();
}

void Connection::close_if_done() {
  const bool answered = in_flight_ == 0 && !alone_ && !taking_soon_ && waiting() == 0;
  if (ended_ && answered && input_.find('\n') == std::string::npos) close();
}

void Connection::write_some() {
  const bool had_room = has_room();
  bool progress = false;
  while (sent_ < output_.size()) {
    const ssize_t n = ::send(socket_.get(), output_.data() + sent_, output_.size() - sent_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) deaf_ = true;
    if (n < 0) break;
    sent_ += static_cast<std::size_t>(n);
    progress = true;
  }
  if (deaf_ || sent_ == output_.size()) {
    drop_output();
  } else if (sent_ > output_.size() / 2) {
    output_.erase(0, std::exchange(sent_, 0));
  }
  if (progress || output_.empty()) loop_.cancel(std::exchange(output_timer_, 0));
  watch_output_time();
  if (output_.empty() && hanging_up_ && !shut_) {
    shut_ = true;
    ::shutdown(socket_.get(), SHUT_WR);
  }
  update_watch();
  blocked_ |= waiting() > 0;
  if (waiting() == 0 && std::exchange(blocked_, false)) {
    loop_.post([self = weak_from_this()] {
      const auto connection = self.lock();
      if (connection && connection->callbacks_.drained) connection->callbacks_.drained(connection);
    });
  }
  if (!had_room && has_room()) on_room();
}

void Connection::on_room() {
  lane_->go_on();
  for (auto& task : std::exchange(when_room_, {})) tasks_.add(caller_.user, std::move(task));
}

void Connection::drop_output() {
  output_.clear();
  sent_ = 0;
  if (deaf_) held_.clear();
}

void Connection::update_watch() {
  if (gone_ || !socket_) return;
  std::uint32_t events = output_.empty() ? 0U : EPOLLOUT;
  const bool reads = hanging_up_ || (!paused() && !taking_soon_);
  if (reads && !ended_) events |= EPOLLIN;
  loop_.change(socket_.get(), events);
}

void Connection::watch_request_time() {
  const bool waiting_for_end = hanging_up_ || (!input_.empty() && !paused() && !ended_);
  if (!waiting_for_end) {
    loop_.cancel(std::exchange(request_timer_, 0));
  } else if (request_timer_ == 0) {
    request_timer_ = loop_.after(limits_.request_time, [self = weak_from_this()] {
      if (const auto connection = self.lock()) connection->close();
    });
  }
}

// The system wakes us only when a client has read much; one that reads slowly is found by trying.
void Connection::watch_output_time() {
  if (output_.empty() || output_timer_ != 0) return;
  output_timer_ = loop_.after(limits_.output_time, [self = weak_from_this()] {
    const auto connection = self.lock();
    if (!connection || !connection->socket_) return;
    const std::size_t before = connection->waiting();
    connection->output_timer_ = 0;
    connection->write_some();
    if (connection->socket_ && connection->waiting() < before) return connection->take_soon();
    log_warn("a client does not read its replies ({} bytes wait): dropped", before);
    connection->close();
  });
}

}  // namespace moil::daemon
