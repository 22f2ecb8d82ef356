// Lines of the log about one job. On a terminal they begin with "job 7: "; in the journal they
// carry the fields JOB_ID, MODEL and STAGE as well (journal_sink.h), so that `journalctl JOB_ID=7`
// and `moilctl logs 7` find them. Any thread.
#pragma once

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <utility>

namespace moil::daemon {

// What a line is about; empty members are not told.
struct LogContext {
  std::int64_t job = 0;
  std::string model;
  std::string stage;
  std::string event;  // of a line that says what a stored event of the job says: its kind
};

// Of the line that this thread is writing; null where it is about no job.
const LogContext* log_context();

class JobLog {
 public:
  explicit JobLog(LogContext context) : context_(std::move(context)) {}

  template <class... Args>
  void info(spdlog::format_string_t<Args...> format, Args&&... args) const {
    write(spdlog::level::info, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warn(spdlog::format_string_t<Args...> format, Args&&... args) const {
    write(spdlog::level::warn, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(spdlog::format_string_t<Args...> format, Args&&... args) const {
    write(spdlog::level::err, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void write(spdlog::level::level_enum level, const std::string& text) const;

  LogContext context_;
};

inline JobLog job_log(std::int64_t job, const std::string& model = "",
                      const std::string& stage = "", const std::string& event = "") {
  return JobLog({job, model, stage, event});
}

}  // namespace moil::daemon
