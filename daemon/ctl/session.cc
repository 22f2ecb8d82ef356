#include <fcntl.h>

#include <cerrno>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/rpc/reply.h"

namespace moil::daemon::ctl {

bool Session::printed_json(const Json& document) {
  if (json) console.print(document.dump(2, ' ', false, Json::error_handler_t::replace));
  return json;
}

bool Session::printed_json_line(const Json& document) {
  if (json) console.print(to_line(document));
  return json;
}

void Session::require_consent(bool yes, const std::string& what) {
  if (yes) return;
  const auto answer = json ? std::nullopt : console.ask("This would " + what + ". Go on?");
  if (!answer)
    throw Error(ErrorCode::kFailedPrecondition,
                "nothing was done: this would " + what +
                    ", and there is nobody to ask; --yes says that it is meant");
  if (!*answer) throw Error(ErrorCode::kCancelled, "nothing was done");
}

void add_yes(const cli::Command& command, bool& yes) {
  command.add_flag("-y,--yes", yes, "do not ask whether it is meant");
}

UniqueFd open_sample(const std::string& file) {
  UniqueFd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) throw system_error("cannot open " + file, errno);
  return open;
}

}  // namespace moil::daemon::ctl
