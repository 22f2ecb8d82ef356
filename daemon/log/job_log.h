// Lines of the log about one job. On a terminal they begin with "job 7: "; in the journal they
// carry the fields JOB_ID, MODEL and STAGE as well (journal_sink.h), so that `journalctl JOB_ID=7`
// and `moilctl logs 7` find them. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "daemon/log/log.h"

namespace moil::daemon {

// What a line is about; empty members are not told.
struct LogContext {
  std::int64_t job = 0;
  std::string model;
  std::string stage;
  std::string event;  // of a line that says what a stored event of the job says: its kind
};

// What the line that this thread is writing is about; null if it is about no job.
const LogContext* log_context();

class JobLog {
 public:
  explicit JobLog(LogContext context) : context_(std::move(context)) {}

  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kInfo, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kWarning, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::kError, fmt::vformat(format, fmt::make_format_args(args...)));
  }

 private:
  void write(LogLevel level, const std::string& text) const;

  LogContext context_;
};

inline JobLog job_log(std::int64_t job, const std::string& model = "",
                      const std::string& stage = "", const std::string& event = "") {
  return JobLog({job, model, stage, event});
}

}  // namespace moil::daemon
