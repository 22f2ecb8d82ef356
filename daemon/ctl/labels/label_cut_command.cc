// moilctl label cut: a piece of a recording under labels
#include <sysexits.h>

#include "base/error.h"
#include "base/number_text.h"
#include "daemon/ctl/labels/label_adding.h"
#include "datasets/labels/text.h"

namespace moil::daemon::ctl {
namespace {

struct CutOptions {
  std::string file;
  std::string from, to;  // as people and timelines write times
  GivenLabels given;
  std::string split;
  bool as_spelled = false;
};

double time_of(const char* option, const std::string& text) {
  if (const auto seconds = seconds_of(text)) return *seconds;
  throw Error(ErrorCode::kInvalidArgument,
              std::string(option) + ": \"" + text +
                  "\" is no time; give seconds (83.4), or minutes and seconds (1:23.4)");
}

// Null if nobody can look now.
Json silent_share(Session& session, const Json& digest) {
  try {
    const Json digests = Json::array({digest});
    const Json reply = session.call("label.preview", {{"digests", digests}, {"size", 64}});
    return reply["previews"][0].value("silent", Json());
  } catch (const Error&) {
    return nullptr;
  }
}

int cut(Session& session, const CutOptions& options) {
  const auto labels = options.given.all();
  const UniqueFd recording = open_sample(options.file);
  Json params{{"file", 0},
              {"name", data::shown(options.file)},
              {"from", time_of("--from", options.from)},
              {"to", time_of("--to", options.to)},
              {"labels", labels}};
  if (!options.split.empty()) params["split"] = options.split;
  const int descriptor = recording.get();
  Json reply = Spelling(options.as_spelled)
                   .call(session, "label.cut", params, "labels", std::span(&descriptor, 1));
  const Json silent = silent_share(session, reply["digest"]);
  if (silent.is_number()) reply["silent"] = silent;
  if (session.printed_json(reply)) return EX_OK;
  session.console.print(printable(reply["name"].get<std::string>()) + ": " +
                        (reply["new"] == true ? "added" : "known already") + ", " +
                        number_text(reply["seconds"].get<double>()) + " s, " +
                        bytes_text(reply["bytes"].get<double>()) +
                        (is_mostly_silent(silent) ? "; " + kMostlySilent : ""));
  return EX_OK;
}

}  // namespace

void add_label_cut_command(cli::Command group, Action& chosen) {
  const auto options = std::make_shared<CutOptions>();
  cli::Command command =
      add_command(group, "cut", "add a piece of a recording under a label", chosen, options, cut);
  command.add_option("FILE", options->file, "a sound: WAV, FLAC, Ogg or MP3, of any length")
      .required();
  command
      .add_option("--from=TIME", options->from,
                  "where the piece begins: seconds, or M:SS as in a timeline")
      .required();
  command.add_option("--to=TIME", options->to, "where it ends").required();
  add_label_options(command, options->given, "its");
  command.add_option("--split", options->split, "train or val; chosen by content if left out");
  add_as_spelled(command, options->as_spelled);
}

}  // namespace moil::daemon::ctl
