// moilctl label watch
#include <sysexits.h>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/inbox.h"
#include "daemon/ctl/label_adding.h"

namespace moil::daemon::ctl {
namespace {

struct WatchOptions {
  std::string folder;
  bool once = false;
};

void tell(Session& session, const Inbox::Arrival& arrival, const Json& sample) {
  Json told = sample;
  told["label"] = arrival.label.empty() ? Json() : Json(arrival.label);
  if (session.printed_json_line(told) || sample.contains("error")) return;
  session.console.print(printable(arrival.file.string()) + ": " +
                        (sample["new"] == true ? "added" : "known already") + ", " +
                        (arrival.label.empty() ? "unlabelled" : printable(arrival.label)));
}

// What is refused is told, and the watch goes on; but not without the daemon.
bool take(Session& session, const Inbox::Arrival& arrival) {
  AddOptions options;
  if (!arrival.label.empty()) options.labels = {arrival.label};
  Added added;
  try {
    add_files(session, options, std::span(&arrival.file, 1), added, 0, 1);
  } catch (const ReplyError& error) {
    session.console.note(printable(arrival.file.string()) + ": " + printable(error.what()));
    return false;
  } catch (const Error& error) {
    if (std::filesystem::exists(arrival.file)) throw;
    return true;  // gone before it could be taken
  }
  tell(session, arrival, added.samples.at(0));
  return added.failed == 0;
}

int watch(Session& session, const WatchOptions& options) {
  Inbox inbox(options.folder);
  session.client();  // before anything is waited for
  if (!options.once && !session.json)
    session.console.note("watching " + printable(options.folder) + "; end with Ctrl+C");
  bool all_taken = true;
  while (const auto arrival = inbox.next(std::chrono::milliseconds(options.once ? 0 : -1)))
    all_taken = take(session, *arrival) && all_taken;
  return all_taken ? EX_OK : EX_DATAERR;
}

}  // namespace

void add_label_watch_command(CLI::App* group, Action& chosen) {
  const auto watched = std::make_shared<WatchOptions>();
  CLI::App* command =
      add_command(group, "watch", "add files as they come into a folder", chosen, watched, watch);
  command
      ->add_option("FOLDER", watched->folder,
                   "folders in it are labels; files beside them are unlabelled")
      ->required();
  command->add_flag("--once", watched->once, "take what is there, and end");
}

}  // namespace moil::daemon::ctl
