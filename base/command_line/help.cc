#include "base/command_line/help.h"

#include <algorithm>
#include <cctype>

namespace moil::cli {
namespace {

constexpr std::size_t kNames = 26, kPage = 100;  // columns

// `left` in its column, `right` beside it in lines between words.
std::string two_columns(const std::string& left, const std::string& right) {
  std::string text = "  " + left;
  const std::string margin(kNames, ' ');
  if (right.empty()) return text + "\n";
  if (text.size() + 2 > kNames) {
    text += "\n" + margin;
  } else {
    text.resize(kNames, ' ');
  }
  std::size_t column = kNames;
  bool is_first = true;
  for (const std::string& word : CLI::detail::split(right, ' ')) {
    if (!is_first && column + 1 + word.size() > kPage) {
      text += "\n" + margin;
      column = kNames;
    } else if (!is_first) {
      text += " ";
      ++column;
    }
    text += word;
    column += word.size();
    is_first = false;
  }
  return text + "\n";
}

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

}  // namespace

OptionNames split_names(const std::string& names, ValueKind kind) {
  if (const auto equals = names.find('='); equals != std::string::npos)
    return {names.substr(0, equals), names.substr(equals + 1)};
  if (kind == ValueKind::kWhole) return {names, "N"};
  if (kind == ValueKind::kNumber) return {names, "NUMBER"};
  const auto all = CLI::detail::split_names(names);
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(all, is_long);
  std::string word = found == all.end() ? all.front() : *found;
  word.erase(0, word.find_last_of('-') + 1);
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return {names, word};
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string whole = option.get_type_name();
  const auto begin = whole.find(":{");
  const auto end = whole.find('}', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(whole.substr(begin + 2, end - begin - 2), ',');
}

std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string whole = option.get_type_name();
  return whole.substr(0, whole.find(':'));
}

Help::Help() {
  label("SUBCOMMAND", "COMMAND");
  label("Positionals", "Arguments");
}

std::string Help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  return make_description(app) + make_usage(app, std::move(name)) + make_subcommands(app, mode) +
         make_positionals(app) + make_groups(app, mode) +
         (app->get_footer().empty() ? "" : "\nFor example: " + app->get_footer() + "\n");
}

std::string Help::make_subcommands(const CLI::App* app, CLI::AppFormatMode /*mode*/) const {
  std::vector<std::string> groups;
  std::string text;
  for (const CLI::App* command : app->get_subcommands({})) {
    const std::string& group = command->get_group();
    if (!group.empty() && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const CLI::App* command : app->get_subcommands({}))
      if (command->get_group() == group) text += make_subcommand(command);
  }
  return text;
}

std::string Help::make_subcommand(const CLI::App* command) const {
  std::string text = two_columns(command->get_name(), command->get_description());
  if (!command->get_footer().empty()) text += two_columns("", "  " + command->get_footer());
  return text;
}

std::string Help::make_option(const CLI::Option* option, bool is_positional) const {
  return two_columns(
      make_option_name(option, is_positional) + (is_positional ? "" : make_option_opts(option)),
      make_option_desc(option));
}

std::string Help::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return option->get_name(true, false) + (takes_many(*option) ? "..." : "");
  return option->get_name(false, true);
}

std::string Help::make_option_opts(const CLI::Option* option) const {
  const std::string value = value_of(*option);
  return value.empty() ? "" : " " + value + (takes_many(*option) ? "..." : "");
}

std::string Help::make_option_usage(const CLI::Option* positional) const {
  const std::string name = make_option_name(positional, true);
  return positional->get_required() ? name : "[" + name + "]";
}

std::string Help::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  const auto add = [&](const std::string& what) {
    text += (text.empty() ? "(" : " (") + what + ")";
  };
  if (const auto choices = choices_of(*option); !choices.empty())
    add("one of " + CLI::detail::join(choices, ", "));
  if (option->get_required() && !option->get_positional()) add("required");
  if (!option->get_default_str().empty()) add("default: " + option->get_default_str());
  if (!option->get_envname().empty()) add("also set by " + option->get_envname());
  return text;
}

}  // namespace moil::cli
