#include "daemon/rpc/address.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace moil::daemon {

UnixAddress::UnixAddress(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.empty() || text.size() >= sizeof address_.sun_path) {
    throw Error(ErrorCode::kInvalidArgument, "the socket path \"" + text + "\" must have 1 to " +
                                                 std::to_string(sizeof address_.sun_path - 1) +
                                                 " bytes, it has " + std::to_string(text.size()));
  }
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, text.c_str(), text.size());
}

UniqueFd connect_to(const std::filesystem::path& path) {
  const UnixAddress address(path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw system_error("cannot create a socket", errno);
  if (::connect(fd.get(), address.get(), address.size()) != 0) {
    throw system_error("cannot connect to " + path.string(), errno);
  }
  return fd;
}

bool is_listening(const std::filesystem::path& path) {
  const UnixAddress address(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd && ::connect(fd.get(), address.get(), address.size()) == 0;
}

bool is_abandoned(const std::filesystem::path& path) {
  const UnixAddress address(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw system_error("cannot create a socket", errno);
  return ::connect(fd.get(), address.get(), address.size()) != 0 && errno == ECONNREFUSED;
}

}  // namespace moil::daemon
