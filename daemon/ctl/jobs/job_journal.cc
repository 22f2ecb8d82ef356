#include "daemon/ctl/jobs/job_journal.h"

#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::int64_t kMicroseconds = 1000;  // of a millisecond
constexpr const char* kForbiddenText =
    "this user may not read the system's journal; root and members of the group systemd-journal "
    "may, and see moild's own lines as well";
constexpr const char* kNoneText =
    "this device keeps no journal; moild's own lines are where its stderr goes";

enum class Access { kNone, kForbidden, kReadable };

// sd_journal_open() passes over what may not be read without a word.
Access access_to(const fs::path& folder) {
  std::error_code error;
  Access found = Access::kNone;
  for (const auto& machine : fs::directory_iterator(folder, error)) {
    const fs::path file = machine.path() / "system.journal";
    if (::access(file.c_str(), R_OK) == 0) return Access::kReadable;
    if (errno == EACCES) found = Access::kForbidden;
  }
  return error == std::errc::permission_denied ? Access::kForbidden : found;
}

Access access_to_journal() {
  return std::max(access_to("/run/log/journal"), access_to("/var/log/journal"));
}

std::optional<std::string> journal_field(sd_journal* journal, const std::string& name) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (::sd_journal_get_data(journal, name.c_str(), &data, &size) < 0) return std::nullopt;
  const std::size_t skipped = std::min(size, name.size() + 1);  // "NAME="
  return std::string(static_cast<const char*>(data) + skipped, size - skipped);
}

}  // namespace

void JobJournal::Close::operator()(sd_journal* journal) const { ::sd_journal_close(journal); }

JobJournal::JobJournal(std::int64_t job, const std::string& state_folder, std::int64_t since) {
  sd_journal* journal = nullptr;
  const int result = ::sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY);
  if (result < 0) {
    why_not_ = std::string("the journal cannot be opened: ") + std::strerror(-result);
    return;
  }
  journal_.reset(journal);
  const Access access = access_to_journal();
  if (access != Access::kReadable) {
    why_not_ = access == Access::kForbidden ? kForbiddenText : kNoneText;
    journal_.reset();
    return;
  }
  const std::array<std::string, 3> matches = {
      "SYSLOG_IDENTIFIER=moild", "JOB_ID=" + std::to_string(job), "MOILD_STATE=" + state_folder};
  for (const std::string& match : matches)
    ::sd_journal_add_match(journal, match.data(), match.size());
  ::sd_journal_get_fd(journal);  // from here on, what is added is noticed
  ::sd_journal_seek_realtime_usec(journal, static_cast<std::uint64_t>(since * kMicroseconds));
}

std::vector<JobJournal::Line> JobJournal::read() {
  std::vector<Line> lines;
  if (!journal_) return lines;
  ::sd_journal_process(journal_.get());
  while (::sd_journal_next(journal_.get()) > 0) {
    if (journal_field(journal_.get(), "JOB_EVENT")) continue;
    Line line;
    std::uint64_t at = 0;
    ::sd_journal_get_realtime_usec(journal_.get(), &at);
    line.at = static_cast<std::int64_t>(at) / kMicroseconds;
    line.text = journal_field(journal_.get(), "MESSAGE").value_or("");
    if (const auto priority = journal_field(journal_.get(), "PRIORITY"))
      line.priority = std::atoi(priority->c_str());
    lines.push_back(std::move(line));
  }
  return lines;
}

int JobJournal::descriptor() const { return journal_ ? ::sd_journal_get_fd(journal_.get()) : -1; }

}  // namespace moil::daemon::ctl
