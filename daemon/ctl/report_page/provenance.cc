#include "base/svg.h"
#include "daemon/ctl/jobs/report_figures.h"
#include "daemon/ctl/report_page/html.h"
#include "daemon/ctl/report_page/sections.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

void add(Rows& rows, const std::string& what, const Json& value) {
  if (!value.is_null()) rows.push_back({what, cell(value)});
}

std::string samples_text(const Json& side) {
  return cell(at(side, "/samples")) + " trained on, " + cell(at(side, "/held_out")) +
         " held out; digest " + cell(at(side, "/digest"));
}

Rows rows_of(const Json& job) {
  const Json details = at(job, "/result/details");
  Rows rows;
  add(rows, "model", at(job, "/model"));
  add(rows, "began with version", at(job, "/base_version"));
  add(rows, "wrote version", at(job, "/version"));
  add(rows, "weights", at(details, "/weights"));
  add(rows, "submitted", at(job, "/submitted_at"));
  add(rows, "started", at(job, "/started_at"));
  add(rows, "finished", at(job, "/finished_at"));
  add(rows, "schedule", at(job, "/schedule"));
  add(rows, "attempts", at(job, "/attempts"));
  add(rows, "moild", at(details, "/build"));
  add(rows, "task", at(details, "/task"));
  for (const char* side : {"local", "global"})
    if (const Json data = at(details, (std::string("/data/") + side).c_str()); data.is_object())
      rows.push_back({std::string(side) + " samples", samples_text(data)});
  return rows;
}

}  // namespace

std::string provenance_section(const Json& job) {
  std::string body = html::key_table(rows_of(job));
  if (const Json spec = at(job, "/spec"); spec.is_object())
    body += html::element(
                "details",
                html::element("summary", "The job's description, every default filled in") + "\n" +
                    html::element("pre", svg::escaped(with_plain_numbers(spec).dump(2)))) +
            "\n";
  return html::section("Where it comes from", body);
}

}  // namespace moil::daemon::ctl
