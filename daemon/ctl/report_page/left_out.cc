#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"

namespace moil::daemon::ctl {
namespace {

std::string table_of(const std::string& what, const Rows& rows) {
  std::string html;
  for (const auto& cells : rows) {
    std::vector<std::string> row;
    for (const std::string& cell : cells) row.push_back(cell.empty() ? "" : html::name(cell));
    html += html::row(row);
  }
  return html.empty() ? "" : html::element("h3", what) + "\n" + html::table({}, html);
}

}  // namespace

std::string left_out_section(const Json& job) {
  const Json details = at(job, "/result/details");
  const std::string all =
      table_of(unreadable_heading(details), left_out_rows(details)) +
      table_of("Of a kind that the model does not read", other_media_rows(details));
  return all.empty() ? "" : html::section("What was left out", all);
}

}  // namespace moil::daemon::ctl
