// The lines of moild's log: to stderr or the journal (start_log.h). Texts are put together by
// compiled functions of {fmt}; spdlog, whose headers are long, is seen by this room alone. Any
// thread.
//
//   log_warn("{}: {}", path.string(), error.what());
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace moil::daemon {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kCritical };

void write_log(LogLevel level, std::string_view text);
void write_log(LogLevel level, fmt::string_view format, fmt::format_args args);

// Lines below it are left out.
void set_log_level(LogLevel level);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  write_log(LogLevel::kInfo, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  write_log(LogLevel::kWarning, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  write_log(LogLevel::kError, format, fmt::make_format_args(args...));
}
template <class... Args>
void log_critical(fmt::format_string<Args...> format, Args&&... args) {
  write_log(LogLevel::kCritical, format, fmt::make_format_args(args...));
}

}  // namespace moil::daemon
