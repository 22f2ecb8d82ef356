// What systemd's journal has about one job: the lines of moild that carry its number
// (daemon/log/journal_sink.h), but for those that say what the job's events say. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct sd_journal;

namespace moil::daemon::ctl {

class JobJournal {
 public:
  struct Line {
    std::int64_t at = 0;  // milliseconds since 1970
    int priority = 6;     // syslog's: 3 an error, 4 a warning
    std::string text;
  };

  // state_folder: as the moild that ran the job names it. Nothing older than `since` (milliseconds
  // since 1970) is the job's: numbers begin anew in a new state folder.
  JobJournal(std::int64_t job, const std::string& state_folder, std::int64_t since);

  // Why the journal cannot be read, a sentence; empty if it can be read.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  // The lines that were not read yet.
  std::vector<Line> read();
  // Becomes readable when there may be more; below 0 if nothing can be waited for.
  [[nodiscard]] int descriptor() const;

 private:
  struct Close {
    void operator()(sd_journal* journal) const;
  };

  std::unique_ptr<sd_journal, Close> journal_;
  std::string why_not_;
};

}  // namespace moil::daemon::ctl
