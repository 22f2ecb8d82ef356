// How long nobody has used the device: what logind knows of keyboards, pointers and terminals,
// asked over the system bus. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

struct sd_bus;

namespace moil::daemon {

class UserIdle {
 public:
  // connect: a bus, or null if there is none; left out: the system's.
  explicit UserIdle(std::function<sd_bus*()> connect = nullptr);
  ~UserIdle();
  UserIdle(const UserIdle&) = delete;
  UserIdle& operator=(const UserIdle&) = delete;

  // Minutes since the last use; 0 while it is used; empty if logind does not answer. Waits a
  // fraction of a second at most, and asks a logind that did not answer again after a minute.
  std::optional<double> minutes();

 private:
  struct Close {
    void operator()(sd_bus* bus) const;
  };
  std::optional<double> ask();

  std::function<sd_bus*()> connect_;
  std::unique_ptr<sd_bus, Close> bus_;
  std::optional<std::chrono::steady_clock::time_point> silent_until_;
};

}  // namespace moil::daemon
