#include "daemon/log/job_log.h"

namespace moil::daemon {
namespace {

thread_local const LogContext* current = nullptr;

}  // namespace

const LogContext* log_context() { return current; }

void JobLog::write(LogLevel level, const std::string& text) const {
  struct Scope {
    explicit Scope(const LogContext& context) { current = &context; }
    ~Scope() { current = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
  const Scope scope(context_);
  write_log(level, "job " + std::to_string(context_.job) + ": " + text);
}

}  // namespace moil::daemon
