// The figures of elastic training as tables (Console::table). Pure functions.
#pragma once

#include "daemon/ctl/console.h"
#include "daemon/ctl/elastic/elastic_report.h"

namespace moil::daemon::ctl {

// What was asked for and what the device allows.
[[nodiscard]] Rows elastic_setting_rows(const ElasticReport& report);
// A row an interval, and below them full training to compare with. "-" for what is not recorded.
[[nodiscard]] Rows elastic_interval_rows(const ElasticReport& report);
// A row a measurement of the step's times; none if none is recorded.
[[nodiscard]] Rows elastic_profile_rows(const ElasticReport& report);

}  // namespace moil::daemon::ctl
