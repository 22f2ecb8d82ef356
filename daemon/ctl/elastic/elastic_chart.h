// Which tensors elastic training trained when, drawn with letters: tensors down, from the input to
// the output, epochs across (ElasticTrainer, figure 21).
#pragma once

#include <string>

#include "daemon/ctl/console.h"
#include "daemon/ctl/elastic/elastic_report.h"

namespace moil::daemon::ctl {

// Lines without the last newline; nothing if the report has no tensors or intervals. As wide as
// a terminal (from 40 columns on), and as high: if there are more tensors, those
// of a layer or of several share a row; else a row a tensor, 1,000 at most, in plain ASCII. Pure.
[[nodiscard]] std::string draw_elastic_chart(const ElasticReport& report, const Screen& screen);

}  // namespace moil::daemon::ctl
