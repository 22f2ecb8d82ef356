// The address of a Unix socket, for the server and its clients.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "base/files/unique_fd.h"

namespace moil::daemon {

class UnixAddress {
 public:
  // kInvalidArgument if the path is longer than the system allows (107 bytes).
  explicit UnixAddress(const std::filesystem::path& path);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return sizeof address_; }

 private:
  sockaddr_un address_{};
};

// A blocking connection; kNotFound or kIo with errno's text.
UniqueFd connect_to(const std::filesystem::path& path);
bool is_listening(const std::filesystem::path& path);
// Whether the socket there is nobody's any more: what listened on it is dead.
bool is_abandoned(const std::filesystem::path& path);

}  // namespace moil::daemon
