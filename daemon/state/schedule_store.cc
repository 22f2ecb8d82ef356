#include "daemon/state/schedule_store.h"

#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "daemon/json/parse.h"

namespace moil::daemon {
namespace {

Schedule schedule_of(const Statement& row, const RecurringSpec& spec) {
  Schedule schedule;
  schedule.spec = spec;
  schedule.spec.enabled = row.integer(1) != 0;
  schedule.created_at = row.integer(2);
  schedule.last_due = row.optional_integer(3);
  schedule.last_job = row.optional_integer(4);
  schedule.labels_seen = row.integer(5);
  schedule.pack_seen = row.text(6);
  schedule.remark = row.text(7);
  return schedule;
}

}  // namespace

std::vector<Schedule> ScheduleStore::query(const std::string& rest, const std::string* name) const {
  Statement rows(db_,
                 "SELECT description, enabled, created_at, last_due, last_job, labels_seen, "
                 "pack_seen, remark, name FROM schedules " +
                     rest);
  if (name != nullptr) rows.bind(std::string_view(*name));
  std::vector<Schedule> found;
  while (rows.step())
    found.push_back(schedule_of(rows, spec_of(std::string(rows.text(8)), rows.text(0))));
  return found;
}

const RecurringSpec& ScheduleStore::spec_of(const std::string& name,
                                            std::string_view description) const {
  const auto known = read_.find(name);
  if (known != read_.end() && known->second.description == description) return known->second.spec;
  RecurringSpec spec = stored_recurring_spec(parsed_json(description));
  return read_.insert_or_assign(name, ReadSpec{std::string(description), std::move(spec)})
      .first->second.spec;
}

void ScheduleStore::add(const RecurringSpec& spec) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  if (!query("WHERE name = ?", &spec.name).empty())
    throw Error(ErrorCode::kAlreadyExists,
                "there is a schedule \"" + spec.name + "\" already; remove it first (schedule.rm)");
  Statement insert(db_,
                   "INSERT INTO schedules (name, priority, description, enabled, created_at) "
                   "VALUES (?, ?, ?, ?, ?)");
  insert.bind(std::string_view(spec.name)).bind(std::int64_t{spec.priority});
  insert.bind(std::string_view(to_json(spec).dump())).bind(std::int64_t{spec.enabled});
  insert.bind(now_milliseconds()).run();
  transaction.commit();
}

const std::vector<Schedule>& ScheduleStore::all() const {
  const std::pair<std::int64_t, std::int64_t> now{db_.number("PRAGMA data_version"),
                                                  sqlite3_total_changes64(db_.handle())};
  if (now != all_at_) {
    all_ = query("ORDER BY priority DESC, name", nullptr);
    all_at_ = now;
  }
  return all_;
}

Schedule ScheduleStore::get(const std::string& name) const {
  const auto found = query("WHERE name = ?", &name);
  if (found.empty())
    throw Error(ErrorCode::kNotFound, "there is no schedule \"" + name + "\"; see schedule.list");
  return found.front();
}

void ScheduleStore::disable(const std::string& name) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  (void)get(name);
  Statement update(db_, "UPDATE schedules SET enabled = 0 WHERE name = ?");
  update.bind(std::string_view(name)).run();
  transaction.commit();
}

void ScheduleStore::enable(const std::string& name, std::int64_t dealt_with) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  if (!get(name).spec.enabled) {
    Statement update(db_,
                     "UPDATE schedules SET enabled = 1, last_due = ?, remark = ? WHERE name = ?");
    update.bind(dealt_with).bind(std::string_view("it was disabled until then"));
    update.bind(std::string_view(name)).run();
  }
  transaction.commit();
}

void ScheduleStore::remove(const std::string& name) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  (void)get(name);
  Statement rows(db_, "DELETE FROM schedules WHERE name = ?");
  rows.bind(std::string_view(name)).run();
  transaction.commit();
  read_.erase(name);
}

std::int64_t ScheduleStore::submit(const Schedule& schedule, std::int64_t now, const Seen& seen,
                                   bool ignore_window) {
  const RecurringSpec& spec = schedule.spec;
  return jobs_.submit(
      spec.job, ignore_window, JobStore::Origin{spec.name, spec.priority}, [&](std::int64_t job) {
        Statement update(db_,
                         "UPDATE schedules SET last_due = ?, last_job = ?, labels_seen = ?, "
                         "pack_seen = ?, remark = '' WHERE name = ?");
        update.bind(now).bind(job).bind(seen.labels).bind(std::string_view(seen.pack));
        update.bind(std::string_view(spec.name)).run();
      });
}

void ScheduleStore::pass_over(const std::string& name, std::int64_t now, const std::string& why) {
  Transaction transaction(db_, Transaction::Kind::kWrite);
  Statement update(db_, "UPDATE schedules SET last_due = ?, remark = ? WHERE name = ?");
  update.bind(now).bind(std::string_view(why)).bind(std::string_view(name)).run();
  transaction.commit();
}

Json to_json(const Schedule& schedule) {
  Json out = to_json(schedule.spec);
  out["created_at"] = utc_text(schedule.created_at);
  out["last_at"] = schedule.last_due ? Json(utc_text(*schedule.last_due)) : Json(nullptr);
  out["last_job"] = or_null(schedule.last_job);
  out["remark"] = schedule.remark;
  return out;
}

}  // namespace moil::daemon
