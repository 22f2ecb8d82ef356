// moilctl learn: new labels at once, by day, without a night
#include <sysexits.h>

#include <filesystem>

#include "daemon/ctl/command.h"
#include "daemon/ctl/jobs/watch.h"

namespace moil::daemon::ctl {
namespace {

struct LearnOptions {
  std::string model;
  std::vector<std::string> labels;
  std::string pack;
  bool no_wait = false;
};

int learn(Session& session, const LearnOptions& options) {
  Json params{{"model", options.model.empty() ? only_model(session) : options.model}};
  if (!options.labels.empty()) params["labels"] = options.labels;
  if (!options.pack.empty())
    params["pack"] = std::filesystem::absolute(options.pack).lexically_normal().string();
  const Json reply = session.call("model.learn", params);
  const bool printed =
      options.no_wait ? session.printed_json(reply) : session.printed_json_line(reply);
  const std::int64_t id = reply["id"];
  if (options.no_wait && !printed) session.console.print("job " + std::to_string(id) + " queued");
  return options.no_wait ? EX_OK : watch_job(session, id);
}

}  // namespace

void add_learn_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<LearnOptions>();
  cli::Command command =
      add_command(app, "learn", "learn new labels at once, without a night", chosen, options, learn)
          .group(kLearning);
  command.add_option("MODEL", options->model, "which model, where there are several");
  command.add_option("--label", options->labels, "only this label; may be given several times")
      .one_value_each_time();
  command.add_option("--pack=DIR", options->pack,
                     "the global pack; the one of the model's last job if left out");
  command.add_flag("--no-wait", options->no_wait, "do not follow it to its end");
}

}  // namespace moil::daemon::ctl
