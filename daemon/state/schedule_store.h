// Recurring nights: what they are, and when each last ran.
//
// Each method that changes something is one transaction, durable when it returns. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/spec/recurring_spec.h"
#include "daemon/state/job_store.h"

namespace moil::daemon {

// Times are milliseconds since 1970.
struct Schedule {
  RecurringSpec spec;
  std::int64_t created_at = 0;
  std::optional<std::int64_t> last_due;  // the moment that was dealt with last, as the clock was
  std::optional<std::int64_t> last_job;  // that it submitted
  std::int64_t labels_seen = 0;          // the newest sample's id then
  std::string pack_seen;                 // what told the pack from others then
  std::string remark;                    // why the last moment submitted no job
};

// What a job of a schedule learns from, as far as it tells whether another one is worth it.
struct Seen {
  std::int64_t labels = 0;
  std::string pack;
};

class ScheduleStore {
 public:
  ScheduleStore(Database& database, JobStore& jobs) : db_(database), jobs_(jobs) {}

  void add(const RecurringSpec& spec);  // kAlreadyExists
  // By priority, then by name. Asked for again and again: read anew if something was written.
  const std::vector<Schedule>& all() const;
  Schedule get(const std::string& name) const;  // kNotFound
  void disable(const std::string& name);
  // What went by until then, while it was disabled, is dealt with.
  void enable(const std::string& name, std::int64_t dealt_with);
  void remove(const std::string& name);  // its jobs stay
  // A moment has come: its job is queued, in the same transaction.
  std::int64_t submit(const Schedule& schedule, std::int64_t now, const Seen& seen,
                      bool ignore_window = false);
  // A moment has come for which nothing is to be done.
  void pass_over(const std::string& name, std::int64_t now, const std::string& why);

 private:
  // A description as it was read: a thousand of them take the loop a fifth of a second, and
  // whatever is written has all of them asked for again.
  struct ReadSpec {
    std::string description;
    RecurringSpec spec;
  };

  std::vector<Schedule> query(const std::string& rest, const std::string* name) const;
  const RecurringSpec& spec_of(const std::string& name, std::string_view description) const;

  Database& db_;
  JobStore& jobs_;
  mutable std::map<std::string, ReadSpec> read_;  // by name, of schedules that are there
  mutable std::vector<Schedule> all_;
  mutable std::pair<std::int64_t, std::int64_t> all_at_{-1, -1};  // changes by others, and by us
};

Json to_json(const Schedule& schedule);

}  // namespace moil::daemon
