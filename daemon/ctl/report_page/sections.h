// The parts of the report's page, a file each: HTML of what job.get says of a job (`job`, with its
// result). Nothing if a report has nothing to say of them. Pure functions.
#pragma once

#include <string>

#include "daemon/ctl/report_page/thumbnails.h"

namespace moil::daemon::ctl {

[[nodiscard]] std::string summary_part(const Json& job);  // what was learned and what it cost
// nights: as fetch_nights() has them.
[[nodiscard]] std::string nights_section(const Json& job, const Json& nights);
[[nodiscard]] std::string curves_section(const Json& job);  // loss and quality, an epoch a point
[[nodiscard]] std::string labels_section(const Json& job);  // which labels became better and worse
[[nodiscard]] std::string changes_section(const Json& job,  // the samples behind it
                                          const Thumbnails& thumbnails);
[[nodiscard]] std::string confusion_section(const Json& job);
[[nodiscard]] std::string left_out_section(const Json& job);  // samples that cannot be read
[[nodiscard]] std::string trials_section(const Json& job);    // what automatic settings tried
[[nodiscard]] std::string cost_section(const Json& job);      // time, memory, cache
[[nodiscard]] std::string elastic_section(const Json& job);
[[nodiscard]] std::string provenance_section(const Json& job);

}  // namespace moil::daemon::ctl
