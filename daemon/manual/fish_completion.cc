#include <set>

#include "daemon/manual/completion.h"

namespace moil::manual {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// The words that the program tells, asked for when they are wanted.
std::string told(const Command& program, const Option& option) {
  return "'(" + program.name + " words " + option.words + " 2>/dev/null)'";
}

// A function that is true if the commands on the line begin with its arguments; with --exactly,
// only if there are no more.
std::string at_function(const std::string& name, const std::set<std::string>& with_value) {
  std::string valued;
  for (const std::string& option : with_value) valued += " " + option;
  return "function " + name +
         "\n"
         "    argparse exactly -- $argv\n"
         "    set -l found\n"
         "    set -l skip 0\n"
         "    for word in (commandline -opc)[2..-1]\n"
         "        if test $skip = 1\n"
         "            set skip 0\n"
         "        else if contains -- $word" +
         valued +
         "\n"
         "            set skip 1\n"
         "        else if not string match -q -- '-*' $word\n"
         "            set -a found $word\n"
         "        end\n"
         "    end\n"
         "    set -l wanted (count $argv)\n"
         "    if set -q _flag_exactly; and test (count $found) -ne $wanted\n"
         "        return 1\n"
         "    end\n"
         "    test $wanted = 0; or test \"$found[1..$wanted]\" = \"$argv\"\n"
         "end\n";
}

}  // namespace

std::string fish_completion(const Command& program) {
  const std::string at = "__" + CLI::detail::find_and_replace(program.name, "-", "_") + "_at";
  const std::string begin = "complete -c " + program.name;
  std::set<std::string> with_value;
  std::string rows;
  for_each_command(program, program.name, [&](const Command& command, const std::string& path) {
    const std::string below = path.substr(program.name.size());
    for (const Command& next : command.commands) {
      rows += begin + " -f -n '" + at + " --exactly" + below + "' -a " + next.name + " -d " +
              quoted(next.help) + "\n";
    }
    for (const Option& positional : command.positionals) {
      if (!positional.words.empty())
        rows += begin + " -f -n '" + at + below + "' -a " + told(program, positional) + "\n";
    }
    for (const Option& option : command.options) {
      if (&command != &program && option.names.front() == "--help") continue;
      rows += begin;
      const bool everywhere = &command == &program && program.hands_down;
      if (!everywhere) rows += " -n '" + at + below + "'";
      for (const std::string& name : option.names)
        rows += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) {
        with_value.insert(option.names.begin(), option.names.end());
        rows += " -r";
      }
      if (!option.choices.empty())
        rows += " -f -a " + quoted(CLI::detail::join(option.choices, " "));
      if (!option.words.empty()) rows += " -f -a " + told(program, option);
      rows += " -d " + quoted(option.help) + "\n";
    }
  });
  return "# fish completion for " + program.name + ", made from its command table\n" +
         at_function(at, with_value) + rows;
}

}  // namespace moil::manual
