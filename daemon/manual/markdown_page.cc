#include "daemon/manual/pages.h"

namespace moil::manual {
namespace {

void add_options(std::string& page, const std::vector<Option>& options) {
  if (options.empty()) return;
  page += "\n| | |\n| --- | --- |\n";
  for (const Option& option : options) {
    page += "| `" + names_and_value(option) + "` | " +
            CLI::detail::find_and_replace(full_help(option), "|", "\\|") + " |\n";
  }
}

}  // namespace

std::string markdown_page(const Command& program) {
  std::string page =
      "# " + program.name + "\n\n" + sentence(program.help) +
      "\n\nThis page is made from the program's command table by `scripts/manual` of the sources; "
      "a test compares them.\n";
  for_each_command(program, program.name, [&](const Command& command, const std::string& path) {
    if (&command != &program) {
      page += "\n" + std::string(command.commands.empty() ? "### " : "## ") + path + "\n\n" +
              sentence(command.help) + "\n";
    }
    if (&command != &program && !command.commands.empty()) return;
    page += "\n```\n" + synopsis(command, path) + "\n```\n";
    if (!command.example.empty()) page += "\nFor example: `" + command.example + "`\n";
    std::vector<Option> rows = command.positionals;
    for (const Option& option : command.options) {
      if (&command == &program || option.names.front() != "--help") rows.push_back(option);
    }
    add_options(page, rows);
    if (&command == &program && program.hands_down) page += "\nEvery command takes these, too.\n";
  });
  return page;
}

}  // namespace moil::manual
