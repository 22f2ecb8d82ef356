#include <fcntl.h>

#include <cerrno>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {

Client& Session::client() {
  if (client_) return *client_;
  try {
    client_ = std::make_unique<Client>(socket);
  } catch (const Error& error) {
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(error.what()) + "; is moild running? (--socket or MOILD_SOCKET)");
  }
  return *client_;
}

Json Session::call(const std::string& method, const Json& params, std::span<const int> files) {
  return client().call(method, params, files);
}

bool Session::printed_json(const Json& document) {
  if (json) console.print(document.dump(2));
  return json;
}

bool Session::printed_json_line(const Json& document) {
  if (json) console.print(document.dump());
  return json;
}

UniqueFd open_sample(const std::string& file) {
  UniqueFd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) throw system_error("cannot open " + file, errno);
  return open;
}

}  // namespace moil::daemon::ctl
