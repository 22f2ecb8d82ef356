#include "daemon/ctl/elastic/elastic_table.h"

#include <cmath>

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

std::string every(double epochs) {
  return epochs == 1 ? "every epoch" : "every " + cell(Json(std::llround(epochs))) + " epochs";
}
std::string share(std::optional<double> value) { return value ? percent(Json(*value)) : "-"; }
std::string seconds(std::optional<double> value) { return value ? short_time_text(*value) : "-"; }
std::string bytes(std::optional<double> value) { return value ? bytes_text(*value) : "-"; }

std::string of_all(std::size_t some, const ElasticReport& report) {
  return std::to_string(some) + " of " + std::to_string(report.tensors.size());
}

}  // namespace

Rows elastic_setting_rows(const ElasticReport& report) {
  Rows rows;
  if (report.rho) rows.push_back({"a step may take", share(report.rho) + " of a full step"});
  if (report.smallest_rho) rows.push_back({"at the least", share(report.smallest_rho)});
  if (report.forward_share) rows.push_back({"forward pass alone", share(report.forward_share)});
  if (report.interval_epochs) rows.push_back({"chosen anew", every(*report.interval_epochs)});
  double choosing = 0, caching = 0;
  for (const ElasticInterval& interval : report.intervals) {
    choosing += interval.choosing_seconds.value_or(0);
    caching += interval.caching_seconds.value_or(0);
  }
  if (choosing > 0) rows.push_back({"choosing took", short_time_text(choosing) + " in all"});
  if (caching > 0) rows.push_back({"feature maps took", short_time_text(caching) + " in all"});
  return rows;
}

Rows elastic_interval_rows(const ElasticReport& report) {
  Rows rows{{"EPOCHS", "TENSORS", "PREDICTED STEP", "MEASURED", "OF FULL", "MEMORY",
             "PROBE + SELECTOR", "BEGINS BEHIND"}};
  for (const ElasticInterval& each : report.intervals) {
    rows.push_back({epochs_text(each.first, each.last), of_all(count_selected(each), report),
                    seconds(each.predicted_step_seconds), seconds(each.measured_step_seconds),
                    share(share_of_full_step(report, each)), bytes(each.planned_bytes),
                    seconds(each.probe_seconds) + " + " + seconds(each.selector_seconds),
                    each.begins_behind.empty() ? "-" : each.begins_behind});
  }
  rows.push_back({"full", of_all(report.tensors.size(), report), "-",
                  seconds(report.full_step_seconds), report.full_step_seconds ? "100.0%" : "-",
                  bytes(report.full_planned_bytes), "-", "-"});
  return rows;
}

Rows elastic_profile_rows(const ElasticReport& report) {
  if (report.profiles.empty()) return {};
  Rows rows{{"TIMES MEASURED", "FULL STEP", "FORWARD", "TOOK", "WHY"}};
  for (const ElasticProfile& each : report.profiles) {
    rows.push_back({"before epoch " + std::to_string(each.epoch), seconds(each.step_seconds),
                    seconds(each.forward_seconds), seconds(each.seconds),
                    each.why.empty() ? "-" : each.why});
  }
  return rows;
}

}  // namespace moil::daemon::ctl
