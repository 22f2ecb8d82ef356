// moilctl job submit|list|show|cancel|retry|rm|watch
#include <sysexits.h>

#include <filesystem>

#include "base/files/file.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/jobs/job_details.h"
#include "daemon/ctl/jobs/job_report.h"
#include "daemon/ctl/jobs/watch.h"
#include "daemon/json/parse.h"

namespace moil::daemon::ctl {
namespace {

struct SubmitOptions {
  std::string file;
  bool now = false;
  bool watch = false;
};

int submit(Session& session, const SubmitOptions& options) {
  const Json job = read_job_description(options.file);
  const Json reply = session.call("job.submit", {{"job", job}, {"now", options.now}});
  const std::int64_t id = reply["id"];
  const bool printed =
      options.watch ? session.printed_json_line(reply) : session.printed_json(reply);
  if (!printed) session.console.print("job " + std::to_string(id) + " queued");
  return options.watch ? watch_job(session, id) : EX_OK;
}

struct ListOptions {
  std::string state;
  std::size_t limit = 0;  // none
};

int list(Session& session, const ListOptions& options) {
  Json params{{"limit", 1000}};
  if (!options.state.empty()) params["state"] = options.state;
  const Json reply = session.list("job.list", params, "jobs", options.limit);
  if (session.printed_json(reply)) return EX_OK;
  std::vector<std::vector<std::string>> rows{{"ID", "NAME", "MODEL", "STATE", "SUBMITTED", "WHY"}};
  for (const Json& job : reply["jobs"]) {
    rows.push_back({cell(job["id"]), cell(job["name"]), cell(job["model"]), cell(job["state"]),
                    cell(job["submitted_at"]), cell(job["message"])});
  }
  session.console.table(rows);
  return EX_OK;
}

struct IdOptions {
  std::int64_t id = 0;
  bool yes = false;  // of rm
};

int show_job(Session& session, const IdOptions& options) {
  Json reply = session.call("job.get", {{"id", options.id}});
  if (const Json next = reply.value("next", Json()); next.is_object()) {
    Json params{{"id", options.id}, {"details", false}};
    params.update(next);
    const Json rest = session.list("job.get", params, "events");
    Json& events = reply["events"];
    events.insert(events.end(), rest["events"].begin(), rest["events"].end());
  }
  reply.erase("next");
  if (session.json) complete_result(session, reply["job"]);
  if (session.printed_json(reply)) return EX_OK;
  const Json& job = reply["job"];
  std::vector<std::vector<std::string>> rows;
  for (const char* name : {"id", "name", "model", "state", "message", "submitted_at", "started_at",
                           "finished_at", "attempts", "failures", "base_version", "version"}) {
    rows.push_back({name, cell(job[name])});
  }
  session.console.table(rows);
  print_result(session.console, job);
  print_left_out(session.console, job);
  return EX_OK;
}

int cancel(Session& session, const IdOptions& options) {
  const Json reply = session.call("job.cancel", {{"id", options.id}});
  if (session.printed_json(reply)) return EX_OK;
  session.console.print("job " + std::to_string(options.id) +
                        (reply["cancelling"] == true ? " is being cancelled" : " cancelled"));
  return EX_OK;
}

int retry(Session& session, const IdOptions& options) {
  const Json reply = session.call("job.retry", {{"id", options.id}});
  if (!session.printed_json(reply))
    session.console.print("job " + std::to_string(options.id) + " is queued again");
  return EX_OK;
}

int rm(Session& session, const IdOptions& options) {
  if (!options.yes) {
    const Json job = session.call("job.get", {{"id", options.id}, {"details", false}})["job"];
    session.require_consent(false, "remove job " + std::to_string(options.id) + " (" +
                                       printable(cell(job["name"])) +
                                       ") with its events and its report");
  }
  const Json reply = session.call("job.rm", {{"id", options.id}});
  if (!session.printed_json(reply))
    session.console.print("job " + std::to_string(options.id) + " removed");
  return EX_OK;
}

int watch(Session& session, const IdOptions& options) { return watch_job(session, options.id); }

// pack: where it lies in the document.
Json read_description(const std::string& file, const Json::json_pointer& pack) {
  Json job;
  try {
    job = parse_json(read_text(file, 1 << 20, Named::kFileOrPipe), 64, Comments::kAllowed);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    throw Error(ErrorCode::kBadData, file + ": " + error.what());
  }
  if (job.is_object() && job.contains(pack) && job[pack].is_string()) {
    const auto folder = std::filesystem::absolute(file).parent_path();
    job[pack] = (folder / job[pack].get<std::string>()).lexically_normal().string();
  }
  return job;
}

}  // namespace

Json read_job_description(const std::string& file) {
  return read_description(file, Json::json_pointer("/global/pack"));
}

Json read_schedule_description(const std::string& file) {
  return read_description(file, Json::json_pointer("/job/global/pack"));
}

void add_job_commands(cli::Command app, Action& chosen) {
  cli::Command group = app.add_subcommand("job", "jobs: what a night does").group(kLearning);
  group.require_subcommand(1);

  const auto submitted = std::make_shared<SubmitOptions>();
  cli::Command command = add_command(group, "submit", "queue a job", chosen, submitted, submit);
  command.add_option("FILE", submitted->file, "the job description (JSON)").required();
  command.add_flag("--now", submitted->now, "do not wait for the night");
  command.add_flag("--watch", submitted->watch, "follow it to its end");

  const auto listed = std::make_shared<ListOptions>();
  command = add_command(group, "list", "jobs, newest first", chosen, listed, list);
  command.add_option("--state", listed->state, "only jobs in this state");
  command.add_option("--limit", listed->limit, "at most so many; all if left out");

  for (const auto& [name, help, run] :
       {std::tuple{"show", "one job", &show_job}, std::tuple{"cancel", "cancel a job", &cancel},
        std::tuple{"retry", "queue a job again that failed or was cancelled", &retry},
        std::tuple{"rm", "remove a job that has ended, with its events and results", &rm},
        std::tuple{"watch", "follow a job to its end", &watch}}) {
    const auto options = std::make_shared<IdOptions>();
    command = add_command(group, name, help, chosen, options, run);
    command.add_option("ID", options->id, "the job's number").required();
    if (name == std::string_view("rm")) add_yes(command, options->yes);
    if (name == std::string_view("show")) command.alias("get");
  }
}

}  // namespace moil::daemon::ctl
