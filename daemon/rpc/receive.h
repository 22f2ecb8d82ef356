// Reading from a Unix socket together with the descriptors sent along (SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/files/unique_fd.h"

namespace moil::daemon {

// Like recv(2); descriptors that arrive are appended to `files`, close-on-exec.
ssize_t receive(int socket, char* buffer, std::size_t size, std::vector<UniqueFd>& files);

// Like send(2) with MSG_NOSIGNAL; `files` go along with the first byte.
ssize_t send_with(int socket, std::string_view bytes, std::span<const int> files);

}  // namespace moil::daemon
