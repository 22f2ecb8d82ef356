#include "datasets/sounds/pipe_bytes.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace moil::data {

std::size_t PipeBytes::read(std::int64_t at, std::span<std::uint8_t> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::int64_t place = at + static_cast<std::int64_t>(done);
    if (place > read_ + kKept) break;
    const auto wanted = std::min<std::int64_t>(std::ssize(out.subspan(done)), kKept);
    read_to(place + wanted);
    const std::int64_t begin = read_ - std::ssize(kept_);
    if (place < begin || place >= read_) break;
    const auto some = std::min(wanted, read_ - place);
    std::copy_n(kept_.begin() + (place - begin), some, out.begin() + std::ssize(out.first(done)));
    done += static_cast<std::size_t>(some);
  }
  return done;
}

// No further than asked for: what is not there yet would be waited for.
void PipeBytes::read_to(std::int64_t end) const {
  if (std::ssize(kept_) > 4 * kKept) kept_.erase(kept_.begin(), kept_.end() - kKept);
  while (read_ < end && !has_ended_) {
    const std::size_t had = kept_.size();
    kept_.resize(had + static_cast<std::size_t>(end - read_));
    const ssize_t n = ::read(descriptor_, kept_.data() + had, kept_.size() - had);
    const int why = errno;
    kept_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n > 0) read_ += n;
    if (n == 0) has_ended_ = true;
    if (n >= 0 || why == EINTR) continue;
    if (why != EAGAIN) throw system_error("cannot read " + name_, why);
    pollfd readable{descriptor_, POLLIN, 0};
    (void)::poll(&readable, 1, -1);
  }
}

}  // namespace moil::data
