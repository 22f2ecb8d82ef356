// Nights that have ended, as the status, the metrics and the doctor tell of them. Reads alone. Loop
// thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sqlite/database.h"
#include "daemon/json/fields.h"
#include "daemon/state/job.h"

namespace moil::daemon {

struct NightRecord {
  std::int64_t job = 0;
  std::string name, model, schedule;  // schedule: empty if it was submitted by hand
  JobState state = JobState::kSucceeded;
  std::string message;
  std::int64_t finished_at = 0;         // milliseconds since 1970
  std::optional<std::int64_t> version;  // that is in the store
  bool in_service = false;
  Json result = Json::object();  // JobResult as JSON, without its details
  std::optional<std::int64_t> maps_computed, maps_reused;
};

Json to_json(const NightRecord& night);

class NightRecords {
 public:
  explicit NightRecords(const Database& database) : db_(database) {}

  // The one that ended last: succeeded, failed or kept back by the guard.
  [[nodiscard]] std::optional<NightRecord> last() const;
  // Each model's last one that was trained to its end.
  [[nodiscard]] std::vector<NightRecord> last_by_model() const;
  // How long the nights of schedules took, the median of the last five of each that had any.
  [[nodiscard]] std::map<std::string, double> typical_seconds() const;
  // How many jobs there are by state; every state is there.
  [[nodiscard]] std::map<JobState, std::int64_t> counts() const;

 private:
  [[nodiscard]] std::vector<NightRecord> query(const std::string& from) const;

  const Database& db_;
};

}  // namespace moil::daemon
