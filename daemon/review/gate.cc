#include "daemon/review/gate.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/error.h"
#include "base/hash.h"

namespace moil::review {
namespace {

// 256 bits in hexadecimal digits.
std::string new_secret() {
  std::array<std::uint8_t, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw system_error("cannot get random bytes", errno);
  return to_hex(bytes);
}

// In a time that does not tell how much of it is right.
bool is_secret(const std::string& given, const std::string& secret) {
  if (given.size() != secret.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  return differs == 0;
}

// Through a tunnel the port is another one.
bool is_this_machine(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  const std::string name = has_port ? host.substr(0, colon) : host;
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

}  // namespace

Gate::Gate() : token_(new_secret()), cookie_(new_secret()) {}

Gate::Answer Gate::ask(const Request& request) {
  if (!is_this_machine(request.host)) return Answer::kRefused;
  if (request.is_call && request.origin != "http://" + request.host) return Answer::kRefused;
  if (is_secret(request.cookie, cookie_)) return Answer::kKnown;
  if (request.is_call || !is_secret(request.token, token_)) return Answer::kRefused;
  return token_is_good_.exchange(false) ? Answer::kWelcome : Answer::kRefused;
}

}  // namespace moil::review
