#include <fcntl.h>

#include <cerrno>

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

UniqueFd open_sample(const std::string& file) {
  UniqueFd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) throw system_error("cannot open " + file, errno);
  return open;
}

}  // namespace moil::daemon::ctl
