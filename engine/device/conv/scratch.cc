#include "engine/device/conv/scratch.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace moil {

Scratch::Scratch(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw system_error("scratch memory of " + std::to_string(bytes) + " bytes", errno);
  data_ = static_cast<std::byte*>(at);
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    state = state * 1664525U + 1013904223U;
    floats()[i] = static_cast<float>(state >> 16) / 32768.0F - 1.0F;
  }
}

Scratch::~Scratch() {
  if (data_) munmap(data_, bytes_);
}

}  // namespace moil
