// Which tensors elastic training trained when, as a picture: tensors down, from the input to the
// output, epochs across (ElasticTrainer, figure 21).
#pragma once

#include <string>

#include "daemon/ctl/elastic/elastic_report.h"

namespace moil::daemon::ctl {

// An SVG document of its own, readable without scripts: trained cells coloured by the tensor's
// share of the importance; a cell tells its tensor, epochs and share when pointed at. Above 400
// tensors neighbours share a row, above 50 intervals a column. Texts are escaped. Pure.
[[nodiscard]] std::string draw_elastic_picture(const std::string& title,
                                               const ElasticReport& report);

}  // namespace moil::daemon::ctl
