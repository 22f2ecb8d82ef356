#include "daemon/schedule/user_idle.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace moil::daemon {
namespace {

constexpr std::uint64_t kAnswerMicroseconds = 200'000;
constexpr std::chrono::seconds kSilence{60};

sd_bus* system_bus() {
  sd_bus* bus = nullptr;
  return ::sd_bus_open_system(&bus) < 0 ? nullptr : bus;
}

template <class T>
std::optional<T> property(sd_bus* bus, const char* name, char type) {
  T value{};
  const int rc =
      ::sd_bus_get_property_trivial(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
                                    "org.freedesktop.login1.Manager", name, nullptr, type, &value);
  return rc < 0 ? std::nullopt : std::optional(value);
}

}  // namespace

void UserIdle::Close::operator()(sd_bus* bus) const { ::sd_bus_close_unref(bus); }

UserIdle::UserIdle(std::function<sd_bus*()> connect)
    : connect_(connect ? std::move(connect) : system_bus) {}

UserIdle::~UserIdle() = default;

std::optional<double> UserIdle::minutes() {
  const auto now = std::chrono::steady_clock::now();
  if (silent_until_ && now < *silent_until_) return std::nullopt;
  const auto answer = ask();
  if (answer) {
    silent_until_.reset();
  } else {
    bus_.reset();
    silent_until_ = now + kSilence;
  }
  return answer;
}

std::optional<double> UserIdle::ask() {
  if (!bus_) bus_.reset(connect_());
  if (!bus_) return std::nullopt;
  ::sd_bus_set_method_call_timeout(bus_.get(), kAnswerMicroseconds);
  const auto idle = property<int>(bus_.get(), "IdleHint", 'b');
  if (!idle) return std::nullopt;
  if (*idle == 0) return 0;
  const auto since = property<std::uint64_t>(bus_.get(), "IdleSinceHint", 't');
  if (!since) return std::nullopt;
  if (*since == 0) return std::numeric_limits<double>::max();  // nobody has been there at all
  using std::chrono::microseconds;
  const auto now =
      std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  return std::max(0.0, static_cast<double>(now - static_cast<std::int64_t>(*since)) / 60e6);
}

}  // namespace moil::daemon
