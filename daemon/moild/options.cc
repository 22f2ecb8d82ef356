#include "daemon/moild/options.h"

#include <sysexits.h>

#include <filesystem>

#include "base/command_line/command_line.h"
#include "base/this_program.h"
#include "base/version.h"
#include "daemon/manual/manual.h"

namespace moil::daemon {

std::string default_config() {
  const std::filesystem::path program = this_program();
  const std::filesystem::path file(MOIL_CONFIG_FILE);
  // What lies in /usr is configured in /etc, for which prefix it was built whatsoever.
  if (program.parent_path().parent_path() == "/usr" && file.is_relative())
    return "/etc/moild/moild.json";
  return (program.parent_path() / file).lexically_normal().string();
}

Parsed parse_options(int argc, char** argv) {
  Options options;
  cli::Program app("moild personalizes neural networks overnight, on the device's own data.",
                   "moild", std::string("moild ") + kVersion);
  app.add_flag("--foreground", options.foreground,
               "log to the terminal, without systemd (the daemon never forks)");
  app.add_option("--state-dir=DIR", options.state_dir,
                 "where jobs, labels, models and cache are kept")
      .envname("MOILD_STATE_DIR")
      .capture_default_str();
  app.add_option("--socket=FILE", options.socket, "the Unix socket to listen on")
      .envname("MOILD_SOCKET")
      .capture_default_str();
  app.add_option("--config=FILE", options.config,
                 "moild.json (default: " + default_config() + " where it is there)");
  app.add_flag("--check", options.check, "read the configuration, print it in full and exit");
  manual::add_manual(app, 8, {{default_config(), "/etc/moild/moild.json"}});
  if (const auto exit = app.parse(argc, argv)) return {options, exit};
  return {options, std::nullopt};
}

}  // namespace moil::daemon
