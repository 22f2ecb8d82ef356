#include "daemon/service/notify.h"

#include <systemd/sd-daemon.h>

#include <algorithm>

namespace moil::daemon {
namespace {

std::chrono::milliseconds interval() {
  using std::chrono::microseconds;
  std::chrono::milliseconds chosen = std::chrono::seconds(10);
  std::uint64_t watchdog = 0;
  if (::sd_watchdog_enabled(0, &watchdog) > 0) {
    chosen = std::min(
        chosen, std::chrono::duration_cast<std::chrono::milliseconds>(microseconds(watchdog / 2)));
  }
  return chosen;
}

}  // namespace

SystemdNotifier::SystemdNotifier(EventLoop& loop, std::function<std::string()> status)
    : loop_(loop), status_(std::move(status)), interval_(interval()) {}

SystemdNotifier::~SystemdNotifier() { loop_.cancel(timer_); }

void SystemdNotifier::ready() {
  ::sd_notify(0, "READY=1");
  beat();
}

void SystemdNotifier::stopping() { ::sd_notify(0, "STOPPING=1"); }

void SystemdNotifier::beat() {
  ::sd_notify(0, ("WATCHDOG=1\nSTATUS=" + status_()).c_str());
  timer_ = loop_.after(
      interval_, [this] { beat(); }, EventLoop::Priority::kUrgent);
}

}  // namespace moil::daemon
