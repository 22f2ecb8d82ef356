// moilctl words: names that a shell's completion offers. Not for people.
#include <sysexits.h>

#include <set>

#include "daemon/ctl/command.h"

namespace moil::daemon::ctl {
namespace {

struct WordsOptions {
  std::string kind;
};

struct WordSource {
  const char *kind, *method, *member, *name;
};

constexpr WordSource kWordSources[] = {{"models", "model.list", "models", "model"},
                                       {"jobs", "job.list", "jobs", "id"},
                                       {"labels", "label.list", "labels", "name"},
                                       {"schedules", "schedule.list", "schedules", "name"}};

// One a line, each once. A shell that completes wants no complaints: if moild does not answer
// there are none.
int words(Session& session, const WordsOptions& options) {
  constexpr std::size_t kMostJobs = 50;
  try {
    for (const WordSource& source : kWordSources) {
      if (options.kind != source.kind) continue;
      const std::size_t most = options.kind == "jobs" ? kMostJobs : 0;
      const Json reply = session.list(source.method, Json::object(), source.member, most);
      std::set<std::string> told;
      for (const Json& item : reply[source.member]) {
        const std::string word = cell(item[source.name]);
        if (told.insert(word).second) session.console.print(printable(word));
      }
    }
  } catch (const std::exception&) {
  }
  return EX_OK;
}

}  // namespace

void add_words_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<WordsOptions>();
  cli::Command command =
      add_command(app, "words", "names for a shell's completion", chosen, options, words);
  command.group("")
      .add_option("KIND", options->kind, "models, jobs, labels or schedules")
      .required();
}

}  // namespace moil::daemon::ctl
