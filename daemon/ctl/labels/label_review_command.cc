// moilctl review: labels in a browser, or on a terminal
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "base/error.h"
#include "base/this_program.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/review/terminal_review.h"

namespace moil::daemon::ctl {
namespace {

struct ReviewOptions {
  std::string model;
  int port = 0;
  bool terminal = false, no_open = false;
};

// In place of this program; returns only if it cannot be started.
[[noreturn]] void become_server(const Session& session, const ReviewOptions& options) {
  const std::string program = this_program().parent_path() / "moil-review";
  std::vector<std::string> words{program, "--socket", session.socket, "--port",
                                 std::to_string(options.port)};
  if (!options.model.empty()) words.insert(words.end(), {"--model", options.model});
  if (options.no_open) words.emplace_back("--no-open");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw system_error("cannot start " + program, errno);
}

int review(Session& session, const ReviewOptions& options) {
  if (options.terminal) return review_on_terminal(session, options.model, std::cin);
  (void)session.client();  // whether moild is there is told before a page is opened
  become_server(session, options);
}

}  // namespace

namespace {

void add_review(cli::Command parent, const std::string& heading, Action& chosen) {
  const auto options = std::make_shared<ReviewOptions>();
  cli::Command command = add_command(
      parent, "review",
      "label samples in a browser: what is unlabelled, what looks wrong, and all others", chosen,
      options, review);
  command.group(heading).example("moilctl review");
  command.add_option("--model", options->model,
                     "whose proposals and doubts are shown, where there are several");
  command
      .add_option("--port=PORT", options->port, "listen on this port of 127.0.0.1; any if left out")
      .check(cli::within(1, 65535));
  command.add_flag("--no-open", options->no_open, "only tell the address");
  command.add_flag("--terminal", options->terminal,
                   "without a browser: name one unlabelled sample after the other and ask");
}

}  // namespace

void add_review_command(cli::Command app, Action& chosen) { add_review(app, kEveryday, chosen); }
void add_old_review_command(cli::Command group, Action& chosen) { add_review(group, "", chosen); }

}  // namespace moil::daemon::ctl
