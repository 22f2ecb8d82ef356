#include "daemon/manual/manual.h"

#include <CLI/CLI.hpp>

#include "daemon/manual/completion.h"
#include "daemon/manual/pages.h"

namespace moil::manual {
namespace {

std::string printed(const Command& program, int section, const std::string& format) {
  if (format == "man") return man_page(program, section);
  if (format == "markdown") return markdown_page(program);
  if (format == "bash") return bash_completion(program);
  if (format == "zsh") return zsh_completion(program);
  if (format == "fish") return fish_completion(program);
  nlohmann::json table = to_json(program);
  table["section"] = section;
  return table.dump(1) + "\n";
}

}  // namespace

void add_manual(const cli::Command& program, int section,
                const std::map<std::string, std::string>& elsewhere,
                const std::map<std::string, std::string>& words) {
  CLI::App& app = program.app();
  const auto print = [&app, section, elsewhere, words](const std::string& format) {
    std::string text = printed(command_table(app, words), section, format);
    for (const auto& [here, there] : elsewhere)
      text = CLI::detail::find_and_replace(text, here, there);
    text.pop_back();  // CLI11 ends the text with a newline of its own
    throw CLI::CallForVersion(text, 0);
  };
  program.add_action("--manual", print, "print a page made from the command table")
      .check(cli::one_of({"man", "markdown", "bash", "zsh", "fish", "json"}))
      .group("");
}

}  // namespace moil::manual
