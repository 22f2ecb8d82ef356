// moilctl listen FILE|-: what the model in service hears in a sound while it comes
#include <fcntl.h>
#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "datasets/labels/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr int kMicrophoneRate = 16'000;

struct ListenOptions {
  std::string file;
  std::string model;
  std::optional<int> rate;
  std::optional<double> every;
  std::optional<double> threshold;
  std::optional<double> false_accepts;
  std::vector<std::string> labels;

  bool is_stdin() const { return file == "-"; }
};

// Who listens is done when it pleases.
struct Stopped {};
std::atomic<bool> is_stopped = false;

void go_on() {
  if (is_stopped) throw Stopped();
}

void end_when_stopped(Session& session) {
  struct sigaction action {};
  action.sa_handler = [](int) { is_stopped = true; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  (void)session.client();  // which there must be, to look about in it
  session.look_about(go_on);
}

// Who writes to a pipe with a name is waited for.
UniqueFd opened(const ListenOptions& options) {
  if (!options.is_stdin()) {
    UniqueFd open(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!open) throw system_error("cannot open " + options.file, errno);
    return open;
  }
  if (::isatty(STDIN_FILENO) == 1)
    throw Error(
        ErrorCode::kInvalidArgument,
        "the standard input is a terminal; give it a sound: arecord -f S16_LE -r 16000 -c 1 "
        "-t raw | moilctl listen -");
  UniqueFd copy(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!copy) throw system_error("cannot read the standard input", errno);
  return copy;
}

Json params_of(const ListenOptions& options) {
  Json params{{"file", 0},
              {"name", options.is_stdin() ? "standard input" : data::shown(options.file)},
              {"labels", options.labels}};
  if (!options.model.empty()) params["model"] = options.model;
  if (options.rate || options.is_stdin()) params["rate"] = options.rate.value_or(kMicrophoneRate);
  if (options.every) params["every"] = *options.every;
  if (options.threshold) params["threshold"] = *options.threshold;
  if (options.false_accepts) params["false_accepts"] = *options.false_accepts;
  return params;
}

int listen(Session& session, const ListenOptions& options) {
  const UniqueFd sound = opened(options);
  end_when_stopped(session);
  const int descriptor = sound.get();
  const auto tell = [&](const Json& notification) {
    go_on();
    const Json& heard = notification["params"];
    if (!session.printed_json_line(heard))
      session.console.print(padded(clock_text(heard["time"].get<double>()), 9) + "  " +
                            cell(heard["label"]) + "  " + percent(heard["probability"]));
  };
  try {
    const Json reply =
        session.call("model.listen", params_of(options), std::span(&descriptor, 1), tell);
    if (reply.contains("remark")) session.console.note(options.file + ": " + cell(reply["remark"]));
    const Json levels = reply.value("levels", Json::object());
    for (const auto& [label, level] : levels.items())
      session.console.note(cell(label) + " is told from " + percent(level) + " on");
    session.console.note(counted(reply["events"], "event") + " in " +
                         duration_text(reply["seconds"].get<double>()) + ", by " +
                         version_title(reply));
  } catch (const Stopped&) {
    session.hang_up();
  }
  return EX_OK;
}

}  // namespace

void add_listen_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<ListenOptions>();
  cli::Command command = add_command(app, "listen", "what the model in service hears, as it comes",
                                     chosen, options, listen)
                             .group(kEveryday)
                             .example("arecord -f S16_LE -r 16000 -c 1 -t raw | moilctl listen -");
  command
      .add_option(
          "FILE", options->file,
          "a sound of any length; or -: what comes through the standard input, as WAV, FLAC "
          "or samples of 16 bits, little-endian, of one channel")
      .required();
  command.add_option("--model", options->model, "which model, where there are several");
  command
      .add_option("--label", options->labels,
                  "tell this label; may be given more than once; all if left out")
      .one_value_each_time();
  const auto threshold = command.add_option(
      "--threshold=P", options->threshold,
      "tell what is at least as likely, 0 to 1; what the model is sure of if left out");
  threshold.check(cli::within(0.0, 1.0));
  command
      .add_option("--false-accepts=N", options->false_accepts,
                  "so many an hour in sounds without the label, as a night expects by what is held "
                  "out; 1 if left out")
      .check(cli::within(0.001, 1000.0))
      .excludes(threshold);
  command
      .add_option("--every=SECONDS", options->every,
                  "from one decision to the next; 0.08, or a twelfth of what the model sees at "
                  "once, if left out")
      .check(cli::within(0.01, 60.0));
  command
      .add_option("--rate", options->rate,
                  "samples a second of a sound without a head; 16000 of the standard input")
      .check(cli::within(1000, 768'000));
}

}  // namespace moil::daemon::ctl
