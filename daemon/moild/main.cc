// moild: the daemon. Everything it is made of is service/service.h; here are the command line,
// signals and exit codes.
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sysexits.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "base/version.h"
#include "daemon/log/start_log.h"
#include "daemon/methods/methods.h"
#include "daemon/moild/options.h"
#include "daemon/process/work_group.h"
#include "daemon/service/notify.h"
#include "daemon/service/service.h"

namespace moil::daemon {
namespace {

// Blocked before any thread starts, so that they arrive here and nowhere else.
UniqueFd signals_as_file() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// As system.status tells it, without a slash at its end.
std::string state_folder(const Options& options) {
  const auto inside = std::filesystem::path(options.state_dir) / ".";
  return std::filesystem::absolute(inside).lexically_normal().parent_path().string();
}

Config configuration(const Options& options) {
  if (!options.config.empty()) return read_config(options.config);
  std::error_code error;  // also if it is there but cannot be seen: then reading says why
  if (!std::filesystem::exists(default_config(), error) && !error) return Config();
  return read_config(default_config());
}

int exit_code(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kAlreadyExists:
      return EX_UNAVAILABLE;
    // The unit does not start moild again after these two (RestartPreventExitStatus).
    case ErrorCode::kUnimplemented:
      return EX_CONFIG;
    case ErrorCode::kBadData:
      return EX_DATAERR;
    case ErrorCode::kIo:
    case ErrorCode::kNotFound:
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kFailedPrecondition:
      return EX_CANTCREAT;
    default:
      return EX_SOFTWARE;
  }
}

int fail(const std::exception& error, int code) {
  std::cerr << "moild: " << error.what() << "\n";
  return code;
}

// Whether it is to be done again, for a backup is to be put in place of the state.
bool serve(const Options& options, const Config& config, const UniqueFd& signals) {
  const bool watch_users = config.conditions.user_idle_minutes > 0;
  const LinuxWorld world(device_root(),
                         watch_users ? LinuxWorld::Users::kWatched : LinuxWorld::Users::kIgnored);
  EventLoop loop;
  Service service(loop, config, options.state_dir, options.socket, world, all_methods);
  bool again = false;
  service.when_restored([&] {
    log_info("a backup is put in place of the state");
    again = true;
    service.shut_down([&] { loop.stop(); });
  });
  SystemdNotifier notifier(loop, [&] { return service.status(); });
  const auto on_signal = [&](std::uint32_t) {
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) != sizeof info) return;
    if (info.ssi_signo == SIGHUP) {
      return log_info("SIGHUP: nothing is done; the configuration is read when moild starts");
    }
    log_info("stopping");
    again = false;
    notifier.stopping();
    service.shut_down([&] { loop.stop(); });
  };
  loop.watch(signals.get(), EPOLLIN, on_signal, EventLoop::Priority::kUrgent);
  notifier.ready();
  log_info("moild {} serves {} on {}", kVersion, service.state().string(), options.socket);
  loop.run();
  return again;
}

int run(int argc, char** argv) {
  const auto [options, exit] = parse_options(argc, argv);
  if (exit) return *exit;
  Config config;
  try {
    config = configuration(options);
  } catch (const std::exception& error) {
    return fail(error, EX_CONFIG);
  }
  if (options.check) {
    const Access access(config.access);
    for (const std::string& name : access.unknown())
      std::cerr << "moild: access." << name << ": there is no such user or group at present\n";
    std::cout << to_json(config).dump(2) << "\n";
    return EX_OK;
  }
  const UniqueFd signals = signals_as_file();
  try {
    start_log(options.foreground ? LogReader::kPerson : LogReader::kService, config.log_level,
              state_folder(options));
    if (const std::string told = divide_group(); !told.empty()) log_info("{}", told);
    while (serve(options, config, signals)) {
    }
    return EX_OK;
  } catch (const Error& error) {
    return fail(error, exit_code(error));
  } catch (const std::exception& error) {
    return fail(error, EX_SOFTWARE);
  }
}

}  // namespace
}  // namespace moil::daemon

int main(int argc, char** argv) { return moil::daemon::run(argc, argv); }
