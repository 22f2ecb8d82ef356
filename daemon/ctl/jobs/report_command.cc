// moilctl report JOB: what a finished job did, and what elastic training chose
#include <sysexits.h>

#include "base/files/file.h"
#include "daemon/client/model_nights.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/elastic/elastic_chart.h"
#include "daemon/ctl/elastic/elastic_picture.h"
#include "daemon/ctl/elastic/elastic_table.h"
#include "daemon/ctl/jobs/job_details.h"
#include "daemon/ctl/jobs/job_report.h"
#include "daemon/ctl/report_page/page.h"

namespace moil::daemon::ctl {
namespace {

struct ReportOptions {
  std::int64_t id = 0;  // 0: of the job that ended last
  bool last = false;
  bool elastic = false;
  std::string svg;
  std::string html;
};

// The newest job with a result.
std::int64_t last_reported(Session& session) {
  Json params = {{"limit", 100}};
  for (;;) {
    const Json reply = session.call("job.list", params);
    for (const Json& job : reply["jobs"])
      if (job["result"].is_object()) return job["id"].get<std::int64_t>();
    const Json next = reply.value("next", Json());
    if (!next.is_object())
      throw Error(ErrorCode::kNotFound,
                  "no job has a report yet; \"moilctl job submit\" queues one");
    params.update(next);
  }
}

std::int64_t wanted_job(Session& session, const ReportOptions& options) {
  if (options.last) return last_reported(session);
  if (options.id > 0) return options.id;
  throw Error(ErrorCode::kInvalidArgument,
              "report needs the job's number, or --last for the job that ended last");
}

// Throws if the job has no result (yet).
void require_result(const Json& job) {
  const std::string name = "job " + cell(job["id"]), state = cell(job["state"]);
  if (state == "queued" || state == "running") {
    throw Error(ErrorCode::kFailedPrecondition, name + " is " + state +
                                                    " and has no report yet; \"moilctl job watch " +
                                                    cell(job["id"]) + "\" follows it to its end");
  }
  if (!job["result"].is_object()) {
    throw Error(ErrorCode::kNotFound, name + " ended as " + state + " and has no report (" +
                                          cell(job["message"]) + "); submit it anew");
  }
}

// Throws if the job did not train elastically.
Json elastic_details(const Json& job) {
  Json elastic = job["result"].value("/details/elastic"_json_pointer, Json());
  if (elastic.is_object()) return elastic;
  const Json method = job["result"].value("/details/method"_json_pointer, Json());
  throw Error(ErrorCode::kNotFound,
              "job " + cell(job["id"]) + " was not trained elastically" +
                  (method.is_string() ? " (its method is \"" + cell(method) + "\")" : "") +
                  "; leave out --elastic, or submit a job with an \"elastic\" in its description");
}

void print_elastic(Console& console, const ElasticReport& report) {
  console.table(elastic_setting_rows(report));
  console.print("");
  console.table(elastic_interval_rows(report));
  if (!report.profiles.empty()) {
    console.print("");
    console.table(elastic_profile_rows(report));
  }
  const std::string chart = draw_elastic_chart(report, Console::screen());
  if (!chart.empty()) console.print("\n" + chart);
  if (report.cut) console.print("(there are more tensors or intervals than are shown)");
  if (!report.remark.empty()) console.print("\n" + report.remark);
}

int report_elastic(Session& session, const ReportOptions& options, const Json& job) {
  const Json elastic = elastic_details(job);
  const ElasticReport report = read_elastic_report(elastic);
  if (!options.svg.empty()) {
    const std::string title = "Job " + cell(job["id"]) + ", " + printable(cell(job["name"])) +
                              ": which tensors were trained when";
    write_file_atomic(options.svg, draw_elastic_picture(title, report));
  }
  if (session.printed_json(elastic)) return EX_OK;
  print_elastic(session.console, report);
  if (!options.svg.empty()) session.console.print("\ndrawn to " + options.svg);
  return EX_OK;
}

// Up to the job's.
Json nights_before(Session& session, const Json& job) {
  return fetch_nights(session, {.model = job["model"],
                                .metric = job["result"].value("metric", "accuracy"),
                                .last_job = job["id"]});
}

int report_page(Session& session, const ReportOptions& options, const Json& job) {
  const std::string page =
      draw_report_page(job, fetch_thumbnails(session, job), nights_before(session, job));
  if (options.html == "-") {
    session.console.print(page);
    return EX_OK;
  }
  write_file_atomic(options.html, page);
  if (!session.printed_json(job["result"]))
    session.console.print("the report of job " + cell(job["id"]) + " is in " + options.html);
  return EX_OK;
}

int report(Session& session, const ReportOptions& options) {
  Json reply = session.call("job.get", {{"id", wanted_job(session, options)}});
  Json& job = reply["job"];
  require_result(job);
  const bool page = !options.html.empty();
  if (options.elastic || page || session.json) complete_result(session, job);
  if (options.elastic) return report_elastic(session, options, job);
  if (page) return report_page(session, options, job);
  if (!session.printed_json(job["result"])) print_job_report(session.console, job);
  return EX_OK;
}

}  // namespace

void add_report_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<ReportOptions>();
  cli::Command command = add_command(app, "report", "what a night learned", chosen, options, report)
                             .group(kEveryday)
                             .example("moilctl report --last --html night.html");
  cli::Option job = command.add_option("JOB", options->id, "the job's number");
  command.add_flag("--last", options->last, "the job that ended last").excludes(job);
  cli::Option elastic = command.add_flag("--elastic", options->elastic,
                                         "which tensors elastic training trained when");
  command.add_option("--svg=FILE", options->svg, "draw them to this file").needs(elastic);
  command
      .add_option("--html=FILE", options->html,
                  "write the whole report to this file, as one page for a browser (-: to the "
                  "standard output); it shows samples of yours: give it to nobody who may not see "
                  "them")
      .excludes(elastic);
}

}  // namespace moil::daemon::ctl
