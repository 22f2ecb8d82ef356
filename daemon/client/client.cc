#include "daemon/client/client.h"

#include <poll.h>

#include <cerrno>

#include "daemon/rpc/receive.h"

namespace moil::daemon {

ReplyError::ReplyError(Json error_object)
    : std::runtime_error(error_object.value("message", "the daemon reported an error")),
      error_(std::move(error_object)) {}

Client::Client(const std::string& socket) : socket_(connect_to(socket)) {}

Json Client::call(const std::string& method, const Json& params, std::span<const int> files,
                  const OnNotification& tell) {
  const int id = next_id_++;
  send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n",
       files);
  for (;;) {
    Json message = read_message();
    if (message.contains("method") && tell) {
      tell(message);
    } else if (message.contains("method")) {
      notifications_.push_back(std::move(message));
    } else if (message.contains("error")) {
      throw ReplyError(message["error"]);
    } else if (message.value("id", 0) == id) {
      return message["result"];
    }
  }
}

Json Client::next_notification() {
  if (notifications_.empty()) return read_message();
  Json first = std::move(notifications_.front());
  notifications_.erase(notifications_.begin());
  return first;
}

bool Client::has_notification() const {
  return !notifications_.empty() || buffer_.find('\n') != std::string::npos;
}

void Client::send(const std::string& line, std::span<const int> files) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = send_with(socket_.get(), std::string_view(line).substr(sent),
                                sent == 0 ? files : std::span<const int>{});
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return;  // the daemon may have said why before it hung up
    if (n < 0) throw system_error("cannot send to the daemon", errno);
    sent += static_cast<std::size_t>(n);
  }
}

void Client::wait() const {
  constexpr int kMilliseconds = 200;
  pollfd readable{socket_.get(), POLLIN, 0};
  while (look_) {
    const int ready = ::poll(&readable, 1, kMilliseconds);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    look_();
  }
}

Json Client::read_message() {
  for (;;) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      Json message = parsed_json(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      return message;
    }
    wait();
    char chunk[1 << 16];
    const ssize_t n = ::read(socket_.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read from the daemon", errno);
    if (n == 0) throw Error(ErrorCode::kIo, "the daemon closed the connection");
    buffer_.append(chunk, static_cast<std::size_t>(n));
  }
}

}  // namespace moil::daemon
