#include <algorithm>
#include <set>

#include "daemon/manual/completion.h"

namespace moil::manual {
namespace {

std::string words(const std::vector<std::string>& list) { return CLI::detail::join(list, " "); }

// "job submit" of "moilctl job submit".
std::string below(const Command& program, const std::string& path) {
  return path == program.name ? "" : path.substr(program.name.size() + 1);
}

std::vector<std::string> commands_of(const Command& command) {
  std::vector<std::string> names;
  for (const Command& next : command.commands) names.push_back(next.name);
  return names;
}

// Those that may stand behind a command's words.
std::vector<std::string> options_of(const Command& program, const Command& command) {
  std::vector<std::string> list;
  const auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options) {
      for (const std::string& name : option.names)
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
  };
  add(command.options);
  if (program.hands_down) add(program.options);
  return list;
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::set<std::string> with_value;
  std::string steps, values, lists;
  for_each_command(program, program.name, [&](const Command& command, const std::string& path) {
    const std::string at = below(program, path);
    for (const Command& next : command.commands) {
      steps += "      \"" + at + "/" + next.name + "\") at=\"" + (at.empty() ? "" : at + " ") +
               next.name + "\" ;;\n";
    }
    for (const Option& option : command.options) {
      if (option.value.empty()) continue;
      with_value.insert(option.names.begin(), option.names.end());
      for (const std::string& name : option.names) {
        if (!option.choices.empty())
          values += "    \"" + at + "/" + name + "\") words=\"" + words(option.choices) + "\" ;;\n";
      }
    }
    lists += "    \"" + at + "\") words=\"" + words(commands_of(command)) + "\" options=\"" +
             words(options_of(program, command)) + "\" ;;\n";
  });
  const std::string valued =
      CLI::detail::join(std::vector<std::string>(with_value.begin(), with_value.end()), "|");
  const std::string function = "_" + CLI::detail::find_and_replace(program.name, "-", "_");
  std::string text = "# bash completion for " + program.name + ", made from its command table\n" +
                     function + "() {\n" +
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "  local at=\"\" words=\"\" options=\"\" i\n"
                     "  for ((i = 1; i < COMP_CWORD; i++)); do\n";
  if (!valued.empty())
    text += "    case ${COMP_WORDS[i - 1]} in " + valued + ") continue ;; esac\n";
  text += "    case \"$at/${COMP_WORDS[i]}\" in\n" + steps + "      *) ;;\n    esac\n  done\n";
  text += "  case \"$at/$before\" in\n" + values;
  // Where nothing is offered here, the shell offers files.
  if (!valued.empty())
    text += "    */" + CLI::detail::find_and_replace(valued, "|", "|*/") + ") ;;\n";
  text += "    *) case $at in\n" + lists + "      esac ;;\n  esac\n";
  text +=
      "  [[ $word != -* ]] || words=$options\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\ncomplete -o default -F " +
      function + " " + program.name + "\n";
  return text;
}

}  // namespace moil::manual
