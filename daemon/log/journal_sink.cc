#define SD_JOURNAL_SUPPRESS_LOCATION  // of this file, which says nothing

#include "daemon/log/journal_sink.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "daemon/log/job_log.h"
#include "daemon/log/journal.h"

namespace moil::daemon {
namespace {

std::atomic<bool> in_use{false};

int priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return LOG_CRIT;
    case spdlog::level::err:
      return LOG_ERR;
    case spdlog::level::warn:
      return LOG_WARNING;
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LOG_DEBUG;
    default:
      return LOG_INFO;
  }
}

}  // namespace

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  if (stream == nullptr) return false;
  unsigned long long device = 0, inode = 0;
  char rest = 0;
  if (std::sscanf(stream, "%llu:%llu%c", &device, &inode, &rest) != 2) return false;
  struct stat info {};
  return ::fstat(STDERR_FILENO, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

bool logs_to_journal() { return in_use; }

JournalSink::JournalSink(std::string state_folder) : state_folder_(std::move(state_folder)) {
  in_use = true;
}

void JournalSink::sink_it_(const spdlog::details::log_msg& message) {
  const std::string text(message.payload.data(), message.payload.size());
  std::vector<std::string> fields = {"MESSAGE=" + text,
                                     "PRIORITY=" + std::to_string(priority(message.level)),
                                     "SYSLOG_IDENTIFIER=moild", "MOILD_STATE=" + state_folder_};
  if (const LogContext* about = log_context()) {
    fields.push_back("JOB_ID=" + std::to_string(about->job));
    if (!about->model.empty()) fields.push_back("MODEL=" + about->model);
    if (!about->stage.empty()) fields.push_back("STAGE=" + about->stage);
    if (!about->event.empty()) fields.push_back("JOB_EVENT=" + about->event);
  }
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (std::string& field : fields) parts.push_back({field.data(), field.size()});
  if (::sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0)
    std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace moil::daemon
