// Files that are in the program (moil_embed in cmake/Embed.cmake).
#pragma once

#include <string_view>

namespace moil::daemon::ctl {

extern const std::string_view kReportStyle;  // report_page/page.css

}  // namespace moil::daemon::ctl
