#include "daemon/rpc/receive.h"

#include <sys/socket.h>

#include <cstring>

namespace moil::daemon {
namespace {
constexpr std::size_t kMostDescriptors = 253;  // SCM_MAX_FD
}

ssize_t receive(int socket, char* buffer, std::size_t size, std::vector<UniqueFd>& files) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec part{buffer, size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (n < 0) return n;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      files.emplace_back(fd);
    }
  }
  return n;
}

ssize_t send_with(int socket, std::string_view bytes, std::span<const int> files) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(c), files.data(), files.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace moil::daemon
