#include "daemon/client/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/access.h"
#include "daemon/rpc/error.h"
#include "daemon/rpc/reply.h"
#include "datasets/labels/text.h"

namespace moil::daemon {
namespace {

// What the daemon would have said, had it been asked.
ReplyError closed_to_us(const std::string& socket) {
  const RpcError error = permission_denied(
      user_name(::geteuid()) + " may not speak to moild (" + socket +
      "); an administrator adds the user or one of its groups to \"access\" in moild.json and "
      "restarts moild, or the user to the group moild");
  return ReplyError({{"code", error.code}, {"message", error.message}, {"data", error.data}});
}

// The protocol is UTF-8: what is not was given on the command line or lies in a file.
void require_utf8(const Json& value) {
  if (value.is_structured()) {
    for (const Json& part : value) require_utf8(part);
  } else if (value.is_string() && !data::is_utf8(value.get_ref<const std::string&>())) {
    throw Error(ErrorCode::kInvalidArgument, "'" + data::shown(value.get<std::string>()) +
                                                 "' is not valid UTF-8; give it in UTF-8");
  }
}

}  // namespace

Client& ClientSession::client() {
  if (client_) return *client_;
  try {
    client_ = std::make_unique<Client>(socket);
  } catch (const Error& error) {
    if (::access(socket.c_str(), W_OK) != 0 && errno == EACCES) throw closed_to_us(socket);
    throw Error(ErrorCode::kFailedPrecondition,
                std::string(error.what()) +
                    "; is moild running? (--socket or MOILD_SOCKET; moilctl doctor and moild "
                    "--check say what keeps it from starting)");
  }
  return *client_;
}

Json ClientSession::call(const std::string& method, const Json& params, std::span<const int> files,
                         const Client::OnNotification& tell) {
  require_utf8(params);
  return client().call(method, params, files, tell);
}

Json ClientSession::list(const std::string& method, Json params, const std::string& member,
                         std::size_t most) {
  constexpr std::size_t kMostOfPage = 1000;  // that the daemon gives
  Json first;
  for (;;) {
    const std::size_t left =
        most == 0 ? kMostOfPage : most - (first.is_null() ? 0 : first[member].size());
    if (most > 0) params["limit"] = std::min(left, kMostOfPage);
    Json reply = call(method, params);
    const Json next = reply.value("next", Json());
    reply.erase("next");
    if (first.is_null()) {
      first = std::move(reply);
    } else if (Json& page = reply[member]; page.is_object()) {
      first[member].update(page);
    } else {
      first[member].insert(first[member].end(), page.begin(), page.end());
    }
    if (!next.is_object() || (most > 0 && first[member].size() >= most)) return first;
    params.update(next);
  }
}

std::string only_model(ClientSession& session) {
  std::string found;
  const Json reply = session.list("model.list", Json::object(), "models");
  for (const Json& version : reply["models"]) {
    if (version["active"] != true) continue;
    if (!found.empty())
      throw Error(ErrorCode::kInvalidArgument, "there are several models; name one");
    found = version["model"];
  }
  if (found.empty())
    throw Error(ErrorCode::kNotFound, "there is no model; import one first (moilctl model import)");
  return found;
}

}  // namespace moil::daemon
