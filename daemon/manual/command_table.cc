#include "daemon/manual/command_table.h"

#include <cctype>

#include "base/command_line/help.h"

namespace moil::manual {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_positional()) return {option.get_name(true)};
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

using Words = std::map<std::string, std::string>;

Option row(const CLI::Option& option, const Words& words) {
  Option out;
  out.names = names_of(option);
  out.value = option.get_positional() ? "" : cli::value_of(option);
  out.choices = cli::choices_of(option);
  for (const std::string& name : out.names)
    if (const auto kind = words.find(name); kind != words.end()) out.words = kind->second;
  out.standard = option.get_default_str();
  out.environment = option.get_envname();
  out.help = option.get_description();
  out.required = option.get_required();
  out.repeated = option.get_items_expected_max() > 1;
  return out;
}

nlohmann::json to_json(const Option& option) {
  return {{"names", option.names},
          {"value", option.value},
          {"choices", option.choices},
          {"default", option.standard},
          {"environment", option.environment},
          {"help", option.help},
          {"required", option.required},
          {"repeated", option.repeated}};
}

nlohmann::json to_json(const std::vector<Option>& options) {
  nlohmann::json list = nlohmann::json::array();
  for (const Option& option : options) list.push_back(to_json(option));
  return list;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  return CLI::detail::join(words, between);
}

}  // namespace

Command command_table(const CLI::App& app, const Words& words) {
  Command out;
  out.name = app.get_name();
  out.help = app.get_description();
  out.example = app.get_footer();
  out.hands_down = app.get_fallthrough();
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? out.positionals : out.options).push_back(row(*option, words));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty()) out.commands.push_back(command_table(*below, words));
  }
  return out;
}

bool has_words(const Command& program) {
  bool any = false;
  const auto look = [&](const std::vector<Option>& options) {
    for (const Option& option : options) any = any || !option.words.empty();
  };
  for_each_command(program, program.name, [&](const Command& command, const std::string&) {
    look(command.options);
    look(command.positionals);
  });
  return any;
}

nlohmann::json to_json(const Command& command) {
  nlohmann::json commands = nlohmann::json::array();
  for (const Command& below : command.commands) commands.push_back(to_json(below));
  return {{"name", command.name},
          {"help", command.help},
          {"example", command.example},
          {"options", to_json(command.options)},
          {"positionals", to_json(command.positionals)},
          {"commands", commands}};
}

std::string synopsis(const Command& command, const std::string& path) {
  std::string text = path + " [OPTIONS]";
  if (!command.commands.empty()) text += " COMMAND ...";
  for (const Option& positional : command.positionals) {
    const std::string name = positional.names.front() + (positional.repeated ? "..." : "");
    text += positional.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string names_and_value(const Option& option) {
  std::string text = joined(option.names, ", ");
  if (!option.value.empty()) text += " " + option.value + (option.repeated ? "..." : "");
  return text;
}

std::string sentence(std::string text) {
  if (text.empty()) return text;
  // A program's name and a word that is no plain one ("NAME=A,B") keep their letters.
  const std::string first = text.substr(0, text.find_first_of(" ;:,"));
  if (first.find_first_of("./=-_") == std::string::npos && !first.starts_with("moil"))
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.ends_with('.') ? text : text + ".";
}

std::string full_help(const Option& option) {
  std::vector<std::string> parts;
  if (!option.help.empty()) parts.push_back(sentence(option.help));
  if (!option.choices.empty()) parts.push_back("One of " + joined(option.choices, ", ") + ".");
  if (option.required) parts.emplace_back("Required.");
  if (!option.standard.empty()) parts.push_back("Default: " + option.standard + ".");
  if (!option.environment.empty()) parts.push_back("Also set by " + option.environment + ".");
  return joined(parts, " ");
}

}  // namespace moil::manual
