#include "daemon/manual/completion.h"

namespace moil::manual {
namespace {

// Within '...' and within the brackets and colons of _arguments.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\' || c == '(' || c == ')') out += '\\';
    out += c;
  }
  return out;
}

std::string function_of(const std::string& path) {
  return "_" +
         CLI::detail::find_and_replace(CLI::detail::find_and_replace(path, "-", "_"), " ", "_");
}

std::string values_of(const Option& option, const std::string& program) {
  if (!option.words.empty()) return function_of(program) + "__words " + option.words;
  if (option.choices.empty()) return "_files";
  return "(" + CLI::detail::join(option.choices, " ") + ")";
}

std::string specs(const std::vector<Option>& options, const std::string& program) {
  std::string text;
  for (const Option& option : options) {
    for (const std::string& name : option.names) {
      text += " \\\n    '" + std::string(option.repeated ? "*" : "") + name + "[" +
              escaped(option.help) + "]";
      if (!option.value.empty()) text += ":" + option.value + ":" + values_of(option, program);
      text += "'";
    }
  }
  return text;
}

std::string positionals(const Command& command, const std::string& program) {
  std::string text;
  for (const Option& p : command.positionals) {
    text += " \\\n    '" + std::string(p.repeated ? "*" : "") + ":" + p.names.front() + ":" +
            values_of(p, program) + "'";
  }
  return text;
}

std::string next_commands(const Command& command, const std::string& path) {
  std::string list, cases;
  for (const Command& next : command.commands) {
    list += " '" + next.name + ":" + escaped(next.help) + "'";
    cases += "      " + next.name + ") " + function_of(path + " " + next.name) + " ;;\n";
  }
  return "  local -a commands=(" + list.substr(1) +
         ")\n  case $state in\n    command) _describe command commands ;;\n"
         "    rest) case $words[1] in\n" +
         cases + "      esac ;;\n  esac\n";
}

}  // namespace

std::string zsh_completion(const Command& program) {
  std::string text =
      "#compdef " + program.name + "\n# Made from the command table of " + program.name + ".\n";
  if (has_words(program))
    text += function_of(program.name) + "__words() {\n  compadd -- ${(f)\"$(" + program.name +
            " words $1 2>/dev/null)\"}\n}\n";
  for_each_command(program, program.name, [&](const Command& command, const std::string& path) {
    text += function_of(path) + "() {\n  local curcontext=$curcontext state line\n";
    text += "  _arguments -C" + specs(command.options, program.name);
    if (program.hands_down && &command != &program) {
      std::vector<Option> handed = program.options;
      std::erase_if(handed, [](const Option& o) { return o.names.front() == "--help"; });
      text += specs(handed, program.name);
    }
    if (command.commands.empty()) {
      text += positionals(command, program.name) + "\n}\n";
    } else {
      text += " \\\n    '1:command:->command' \\\n    '*::argument:->rest'\n" +
              next_commands(command, path) + "}\n";
    }
  });
  return text + function_of(program.name) + " \"$@\"\n";
}

}  // namespace moil::manual
