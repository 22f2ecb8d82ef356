// moild's command line.
#pragma once

#include <optional>
#include <string>

namespace moil::daemon {

struct Options {
  std::string state_dir = "/var/lib/moild";
  std::string socket = "/run/moild/moild.sock";
  std::string config;       // empty: default_config() if it is there
  bool foreground = false;  // log for people: with time and colour
  bool check = false;       // read the configuration and exit
};

// moild.json as it is installed with this program.
std::string default_config();

// The options, or the exit status if there is nothing more to do (--help, an error).
struct Parsed {
  Options options;
  std::optional<int> exit;
};
Parsed parse_options(int argc, char** argv);

}  // namespace moil::daemon
