// A program's command line as a table: what its manual page, its page in docs/ and its completions
// are made of. The table is read from the CLI11 objects that parse the command line, so that no
// text is written twice. Plain values; safe from any thread.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"

namespace moil::manual {

struct Option {
  std::vector<std::string> names;    // "--json", "-h"; of a positional its one name
  std::string value;                 // "FILE", "N"; empty: a flag, or a positional
  std::vector<std::string> choices;  // if only these values are taken
  std::string words;                 // if "PROGRAM words KIND" tells values: that kind
  std::string standard;              // the default, as text
  std::string environment;           // the variable that sets it, too
  std::string help;
  bool required = false;
  bool repeated = false;  // takes more than one value
};

struct Command {
  std::string name;
  std::string help;
  std::string example;  // "moilctl predict cat.jpg"; may be empty
  std::vector<Option> options;
  std::vector<Option> positionals;
  std::vector<Command> commands;
  bool hands_down = false;  // commands below take its options, too
};

// Hidden options (those of the group "") are left out.
Command command_table(const CLI::App& app, const std::map<std::string, std::string>& words = {});

nlohmann::json to_json(const Command& command);

// "PATH [OPTIONS] FILE..."
std::string synopsis(const Command& command, const std::string& path);
// "--state-dir DIR"; "FILE..." of a positional
std::string names_and_value(const Option& option);
// The help with what is required, the default, the choices and the variable: whole sentences.
std::string full_help(const Option& option);
// With a capital at its beginning and a full stop at its end.
std::string sentence(std::string text);

// Whether values are told by the program itself.
bool has_words(const Command& program);

// Calls visit(command, path) for the command and all below it; path is "moilctl job submit".
template <class Visit>
void for_each_command(const Command& command, const std::string& path, const Visit& visit) {
  visit(command, path);
  for (const Command& below : command.commands)
    for_each_command(below, path + " " + below.name, visit);
}

}  // namespace moil::manual
