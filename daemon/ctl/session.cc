#include <fcntl.h>

#include <cerrno>
#include <cmath>
#include <cstdio>

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

UniqueFd open_sample(const std::string& file) {
  UniqueFd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open) throw system_error("cannot open " + file, errno);
  return open;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string percent(const Json& fraction) {
  if (!fraction.is_number()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", fraction.get<double>() * 100);
  return text;
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

std::string duration_text(double seconds) {
  const long s = std::lround(seconds);
  char text[48];
  if (s >= 3600) {
    std::snprintf(text, sizeof text, "%ld h %02ld min", s / 3600, s / 60 % 60);
  } else if (s >= 60) {
    std::snprintf(text, sizeof text, "%ld min %02ld s", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld s", s);
  }
  return text;
}

}  // namespace moil::daemon::ctl
