#include "daemon/workers/in_memory.h"

#include <sys/mman.h>

#include <cerrno>

#include "base/error.h"
#include "base/files/write_all.h"

namespace moil::daemon {

UniqueFd in_memory(std::span<const std::uint8_t> bytes) {
  UniqueFd memory(::memfd_create("sample", MFD_CLOEXEC));
  if (!memory) throw system_error("cannot hold a sample in memory", errno);
  if (!write_all(memory.get(), bytes)) throw system_error("cannot hold a sample in memory", errno);
  return memory;
}

}  // namespace moil::daemon
