#include "daemon/process/pipe_lines.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "daemon/log/log.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {

PipeLines::~PipeLines() {
  if (pipe_) loop_.unwatch(pipe_.get());
}

UniqueFd PipeLines::open() {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw system_error("cannot create a pipe", errno);
  pipe_ = UniqueFd(pipe[0]);
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
  return UniqueFd(pipe[1]);
}

void PipeLines::watch() {
  loop_.watch(pipe_.get(), EPOLLIN, [this](std::uint32_t) {
    if (read() == Output::kEnded) loop_.unwatch(pipe_.get());
  });
}

void PipeLines::finish() {
  if (!pipe_) return;
  while (read() == Output::kRead) {
  }
  loop_.unwatch(pipe_.get());
}

PipeLines::Output PipeLines::read() {
  char chunk[1 << 16];
  ssize_t n = 0;
  do {
    n = ::read(pipe_.get(), chunk, sizeof chunk);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return errno == EAGAIN ? Output::kNoneYet : Output::kEnded;
  if (n == 0) return Output::kEnded;
  buffer_.append(chunk, static_cast<std::size_t>(n));
  take_lines();
  return Output::kRead;
}

void PipeLines::take_lines() {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos;) {
    const bool fits = !std::exchange(skipping_, false) && end - begin < kMostLineBytes;
    if (fits) on_line_(buffer_.substr(begin, end - begin));
    begin = end + 1;
  }
  buffer_.erase(0, begin);
  if (buffer_.size() < kMostLineBytes) return;
  if (!skipping_)
    log_error("the worker wrote a line of more than {} bytes: skipped", kMostLineBytes);
  skipping_ = true;
  buffer_.clear();
}

}  // namespace moil::daemon
