#include "daemon/log/log.h"

#include <spdlog/spdlog.h>

namespace moil::daemon {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kCritical:
      return spdlog::level::critical;
  }
  return spdlog::level::critical;
}

}  // namespace

void write_log(LogLevel level, std::string_view text) { spdlog::log(level_of(level), text); }

void write_log(LogLevel level, fmt::string_view format, fmt::format_args args) {
  if (spdlog::should_log(level_of(level))) write_log(level, fmt::vformat(format, args));
}

void set_log_level(LogLevel level) { spdlog::set_level(level_of(level)); }

}  // namespace moil::daemon
