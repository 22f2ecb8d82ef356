#include "daemon/ctl/elastic/elastic_picture.h"
#include "daemon/ctl/elastic/elastic_table.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"

namespace moil::daemon::ctl {

std::string elastic_section(const Json& job) {
  const Json elastic = at(job, "/result/details/elastic");
  if (!elastic.is_object()) return "";
  const ElasticReport report = read_elastic_report(elastic);
  const std::string picture = draw_elastic_picture("Which tensors were trained when", report);
  Rows intervals = elastic_interval_rows(report);
  std::string rows;
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    std::vector<std::string> cells;
    for (const std::string& words : intervals[i]) cells.push_back(html::words(words));
    rows += html::row(cells);
  }
  return html::section(
      "What elastic training chose",
      html::key_table(elastic_setting_rows(report)) +
          html::element("div", picture, "class=\"paper wide\"") + "\n" +
          html::element("details", html::element("summary", "Its intervals as figures") + "\n" +
                                       html::table(intervals.front(), rows)) +
          "\n");
}

}  // namespace moil::daemon::ctl
