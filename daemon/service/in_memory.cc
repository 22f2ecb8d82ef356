#include "daemon/service/in_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace moil::daemon {

UniqueFd in_memory(std::span<const std::uint8_t> bytes) {
  UniqueFd memory(::memfd_create("sample", MFD_CLOEXEC));
  if (!memory) throw system_error("cannot hold a sample in memory", errno);
  while (!bytes.empty()) {
    const ssize_t n = ::write(memory.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot hold a sample in memory", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return memory;
}

}  // namespace moil::daemon
