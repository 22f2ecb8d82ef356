#include "daemon/state/night_records.h"

#include "base/median.h"

namespace moil::daemon {
namespace {

// What ended last is among the newest: jobs end nearly in the order in which they came.
const std::string kMade =
    " LEFT JOIN versions AS made ON made.model = job.model AND made.version = job.version "
    "AND made.state = 'ready' ";
const std::string kLast = "(SELECT * FROM jobs ORDER BY id DESC LIMIT 200) AS job" + kMade +
                          "WHERE job.state IN ('succeeded', 'failed', 'rejected-by-guard') "
                          "ORDER BY job.finished_at DESC, job.id DESC LIMIT 1";
const std::string kLastByModel =
    "jobs AS job" + kMade +
    "WHERE job.id IN (SELECT max(id) FROM jobs "
    "WHERE state IN ('succeeded', 'rejected-by-guard') GROUP BY model) ORDER BY job.model";

NightRecord record_of(const Statement& row) {
  NightRecord night;
  night.job = row.integer(0);
  night.name = row.text(1);
  night.model = row.text(2);
  night.schedule = row.is_null(3) ? "" : row.text(3);
  night.state = state_named(row.text(4));
  night.message = row.text(5);
  night.finished_at = row.integer(6);
  night.version = row.optional_integer(7);
  night.in_service = !row.is_null(8) && row.integer(8) != 0;
  if (!row.is_null(9)) night.result = parsed_json(row.text(9));
  night.maps_computed = row.optional_integer(10);
  night.maps_reused = row.optional_integer(11);
  return night;
}

}  // namespace

Json to_json(const NightRecord& night) {
  const auto figure = [&](const char* name) { return night.result.value(name, Json()); };
  return {{"job", night.job},
          {"name", night.name},
          {"model", night.model},
          {"schedule", night.schedule.empty() ? Json(nullptr) : Json(night.schedule)},
          {"state", to_string(night.state)},
          {"message", night.message},
          {"finished_at", utc_text(night.finished_at)},
          {"seconds", figure("seconds")},
          {"version", or_null(night.version)},
          {"in_service", night.in_service},
          {"metric", figure("metric")},
          {"global_metric", figure("global_metric")},
          {"is_fraction", figure("is_fraction")},
          {"global_before", figure("global_before")},
          {"global_after", figure("global_after")},
          {"local_before", figure("local_before")},
          {"local_after", figure("local_after")}};
}

std::vector<NightRecord> NightRecords::query(const std::string& from) const {
  Statement rows(db_,
                 "SELECT job.id, job.name, job.model, job.schedule, job.state, job.message, "
                 "coalesce(job.finished_at, 0), made.version, made.active, job.summary, "
                 "json_extract(job.result, '$.details.cache.computed'), "
                 "json_extract(job.result, '$.details.cache.reused') "
                 "FROM " +
                     from);
  std::vector<NightRecord> out;
  while (rows.step()) out.push_back(record_of(rows));
  return out;
}

std::optional<NightRecord> NightRecords::last() const {
  auto found = query(kLast);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<NightRecord> NightRecords::last_by_model() const { return query(kLastByModel); }

std::map<std::string, double> NightRecords::typical_seconds() const {
  constexpr std::size_t kNights = 5;
  Statement rows(db_,
                 "SELECT schedule, json_extract(summary, '$.seconds') FROM jobs WHERE schedule IS "
                 "NOT NULL AND state IN ('succeeded', 'rejected-by-guard') AND summary IS NOT NULL "
                 "ORDER BY id DESC");
  std::map<std::string, std::vector<double>> seconds;
  while (rows.step()) {
    auto& of_schedule = seconds[rows.text(0)];
    if (!rows.is_null(1) && of_schedule.size() < kNights)
      of_schedule.push_back(std::stod(rows.text(1)));
  }
  std::map<std::string, double> typical;
  for (auto& [schedule, nights] : seconds)
    if (!nights.empty()) typical[schedule] = median(std::move(nights));
  return typical;
}

std::map<JobState, std::int64_t> NightRecords::counts() const {
  std::map<JobState, std::int64_t> counts;
  for (const auto& [state, name] : enum_names(JobState{})) counts[state] = 0;
  Statement rows(db_, "SELECT state, count(*) FROM jobs GROUP BY state");
  while (rows.step()) counts[state_named(rows.text(0))] = rows.integer(1);
  return counts;
}

}  // namespace moil::daemon
