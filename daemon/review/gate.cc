#include "daemon/review/gate.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/error.h"
#include "base/hash.h"

namespace moil::review {
namespace {

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

std::string new_secret() {
  std::array<std::uint8_t, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw system_error("cannot get random bytes", errno);
  return to_hex(bytes);
}

Gate::Gate() : secret_(new_secret()), token_(new_secret()) {}

std::string Gate::token() const {
  const std::lock_guard guard(mutex_);
  return token_;
}

bool Gate::is_meant_for_us(const Request& request) { return is_this_machine(request.host); }

bool Gate::is_from_the_page(const Request& request) {
  return is_meant_for_us(request) && request.origin == "http://" + request.host;
}

std::optional<Gate::Opened> Gate::open(const Request& request, const std::string& token) {
  if (!is_from_the_page(request)) return std::nullopt;
  const std::lock_guard guard(mutex_);
  if (!is_secret(token, token_)) return std::nullopt;
  token_ = new_secret();
  return Opened{secret_, token_};
}

bool Gate::may_call(const Request& request) const {
  return is_from_the_page(request) && is_secret(request.secret, secret_);
}

}  // namespace moil::review
