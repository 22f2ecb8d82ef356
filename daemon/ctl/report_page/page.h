// A job's report as one page for a browser: moilctl report JOB --html FILE.
#pragma once

#include <string>

#include "daemon/ctl/report_page/thumbnails.h"

namespace moil::daemon::ctl {

// An HTML document that loads nothing and runs no script: styles, drawings and photos are in it.
// `job`: as job.get has it, its result complete; `nights`: those of its model
// (client/model_nights.h). Names are escaped wherever they stand. Pure.
[[nodiscard]] std::string draw_report_page(const Json& job, const Thumbnails& thumbnails,
                                           const Json& nights = Json::array());

}  // namespace moil::daemon::ctl
