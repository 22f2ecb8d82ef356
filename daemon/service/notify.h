// What systemd is told: ready, one line of status, that we are alive, that we stop. Without systemd
// (NOTIFY_SOCKET unset) nothing happens. Loop thread only.
#pragma once

#include <functional>
#include <string>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class SystemdNotifier {
 public:
  // `status` is asked for the line, every few seconds and before half the watchdog's time is over.
  SystemdNotifier(EventLoop& loop, std::function<std::string()> status);
  ~SystemdNotifier();
  SystemdNotifier(const SystemdNotifier&) = delete;
  SystemdNotifier& operator=(const SystemdNotifier&) = delete;

  void ready();
  void stopping();

 private:
  void beat();

  EventLoop& loop_;
  std::function<std::string()> status_;
  std::chrono::milliseconds interval_;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace moil::daemon
