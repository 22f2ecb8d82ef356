#include <fcntl.h>

#include <algorithm>
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

Json Session::list(const std::string& method, Json params, const std::string& member,
                   std::size_t most) {
  constexpr std::size_t kMostOfPage = 1000;  // that the daemon gives
  Json all;
  for (;;) {
    const std::size_t left = most == 0 ? kMostOfPage : most - all.size();
    if (most > 0) params["limit"] = std::min(left, kMostOfPage);
    Json reply = call(method, params);
    Json& page = reply[member];
    if (all.is_null()) {
      all = std::move(page);
    } else if (page.is_object()) {
      all.update(page);
    } else {
      all.insert(all.end(), page.begin(), page.end());
    }
    const Json next = reply.value("next", Json());
    if (!next.is_object() || (most > 0 && all.size() >= most)) return {{member, std::move(all)}};
    params.update(next);
  }
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
