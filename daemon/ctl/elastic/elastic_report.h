// What a job's result says of elastic training (its details.elastic), as figures to print and draw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// Epochs over which the same tensors were trained. Figures that the result lacks are empty.
struct ElasticInterval {
  std::int64_t first = 1, last = 1;  // epochs, from 1
  std::vector<bool> selected;        // of each tensor
  // Each tensor's share of the importance of all that served when the interval was chosen. Empty if
  // it was not recorded.
  std::vector<double> shares;
  std::optional<double> predicted_step_seconds, measured_step_seconds;
  std::optional<double> planned_bytes, probe_seconds, selector_seconds, choosing_seconds,
      caching_seconds;
  std::string begins_behind;  // a layer; empty: the input
};

// A measurement of the times that selections are predicted from.
struct ElasticProfile {
  std::int64_t epoch = 1;  // before which it was made
  std::optional<double> step_seconds, forward_seconds, seconds;
  std::string why;
};

struct ElasticReport {
  std::optional<double> rho, smallest_rho, forward_share, interval_epochs;
  std::optional<double> full_step_seconds, full_planned_bytes;
  std::vector<std::string> tensors;  // from the input to the output
  std::vector<ElasticInterval> intervals;
  std::vector<ElasticProfile> profiles;
  std::string remark;
  bool cut = false;  // there are more tensors or intervals than are shown
};

// Absent members and members of another type stay empty; at most 10,000 tensors and 1,000 intervals
// and profiles are read. Texts come out without control characters.
[[nodiscard]] ElasticReport read_elastic_report(const Json& elastic);

// "4-6", "7"
[[nodiscard]] std::string epochs_text(std::int64_t first, std::int64_t last);
[[nodiscard]] std::size_t count_selected(const ElasticInterval& interval);
[[nodiscard]] bool has_shares(const ElasticReport& report);  // of some interval
// The share of a full step; measured if it was, else predicted.
[[nodiscard]] std::optional<double> share_of_full_step(const ElasticReport& report,
                                                       const ElasticInterval& interval);

}  // namespace moil::daemon::ctl
