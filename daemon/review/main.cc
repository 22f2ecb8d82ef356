// moil-review: what "moilctl review" starts. A program of its own, so that moilctl need not
// load a web server's libraries for every other command.
#include <sysexits.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <optional>
#include <thread>

#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/review/address_file.h"
#include "daemon/review/server.h"

namespace {

struct Arguments {
  std::string socket, model;
  int port = 0;
  bool no_open = false;
};

void tell(const moil::review::ReviewServer& server, int port, bool opened) {
  std::cout << (opened
                    ? "the review opens in the browser; if it does not, this address works once:\n"
                    : "open this address in a browser; it works once:\n")
            << "\n  " << server.address() << "\n\n"
            << "from another device: ssh -L " << port << ":127.0.0.1:" << port
            << " THIS-DEVICE, and the same address there\n"
            << "Ctrl-C, or the page's \"Done\", ends it" << std::endl;
}

// Ctrl-C and kill, waited for by a thread until the process ends.
void stop_on_signals(moil::review::ReviewServer& server) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&server, signals] {
    int signal = 0;
    ::sigwait(&signals, &signal);
    server.stop();
    ::sigwait(&signals, &signal);
    ::_exit(EX_UNAVAILABLE);  // moild does not answer, and the user does not wait for it
  }).detach();
}

int run(const Arguments& arguments) {
  static moil::review::ReviewServer server(arguments.socket, arguments.model);
  const int port = server.bind(arguments.port);
  stop_on_signals(server);
  std::optional<moil::review::AddressFile> file;
  bool opened = false;
  if (!arguments.no_open) {
    file.emplace(server.address());
    opened = moil::review::open_in_browser(file->path());
  }
  tell(server, port, opened);
  server.serve();
  return EX_OK;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  moil::cli::Program app("The review of labels in a browser. Started by moilctl review.",
                         "moil-review", moil::kVersion);
  app.add_option("--socket=FILE", arguments.socket, "moild's socket").required();
  app.add_option("--model", arguments.model,
                 "Whose proposals are shown; the only one's if left out");
  app.add_option("--port=PORT", arguments.port, "The port to listen on; any if left out");
  app.add_flag("--no-open", arguments.no_open, "Do not open a browser");
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);  // what opens a browser is not waited for
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "moil-review: " << error.what() << "\n";
    return EX_OSERR;
  }
}
