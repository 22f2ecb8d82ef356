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

// What stands in the places behind the command: the kinds of words, a place each.
std::string kinds_of(const Command& command) {
  std::string kinds;
  bool any = false;
  for (const Option& positional : command.positionals) {
    kinds += " '" + positional.words + "'";
    any = any || !positional.words.empty();
  }
  return any ? " kinds=(" + kinds.substr(1) + ")" : "";
}

// The words that the program tells. None of them is expanded: a label may be any text.
std::string telling(const Command& program) {
  return "  if [[ -n $kind && $word != -* ]]; then\n"
         "    COMPREPLY=()\n"
         "    local one typed=${word//\\\\/}\n"
         "    while IFS= read -r one; do\n"
         "      [[ $one != \"$typed\"* ]] || COMPREPLY+=(\"$(printf %q \"$one\")\")\n"
         "    done < <(" +
         program.name + " words \"$kind\" 2>/dev/null)\n    return\n  fi\n";
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
        const std::string here = "    \"" + at + "/" + name + "\") ";
        if (!option.choices.empty())
          values += here + "words=\"" + words(option.choices) + "\" ;;\n";
        if (!option.words.empty()) values += here + "kind=" + option.words + " ;;\n";
      }
    }
    lists += "    \"" + at + "\") words=\"" + words(commands_of(command)) + "\" options=\"" +
             words(options_of(program, command)) + "\"" + kinds_of(command) + " ;;\n";
  });
  const std::string valued =
      CLI::detail::join(std::vector<std::string>(with_value.begin(), with_value.end()), "|");
  const std::string function = "_" + CLI::detail::find_and_replace(program.name, "-", "_");
  std::string text = "# bash completion for " + program.name + ", made from its command table\n" +
                     function + "() {\n" +
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                     "  local at=\"\" words=\"\" options=\"\" kind=\"\" kinds=() count=0 i\n"
                     "  for ((i = 1; i < COMP_CWORD; i++)); do\n";
  if (!valued.empty())
    text += "    case ${COMP_WORDS[i - 1]} in " + valued + ") continue ;; esac\n";
  text += "    case \"$at/${COMP_WORDS[i]}\" in\n" + steps +
          "      *) [[ ${COMP_WORDS[i]} == -* ]] || count=$((count + 1)) ;;\n    esac\n  done\n";
  text += "  case \"$at/$before\" in\n" + values;
  // If nothing is offered here, the shell offers files.
  if (!valued.empty())
    text += "    */" + CLI::detail::find_and_replace(valued, "|", "|*/") + ") ;;\n";
  text += "    *) case $at in\n" + lists + "      esac\n      kind=${kinds[count]:-} ;;\n  esac\n";
  if (has_words(program)) text += telling(program);
  text +=
      "  [[ $word != -* ]] || words=$options\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\ncomplete -o default -F " +
      function + " " + program.name + "\n";
  return text;
}

}  // namespace moil::manual
