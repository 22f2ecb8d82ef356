#include <algorithm>

#include "base/version.h"
#include "daemon/manual/pages.h"

namespace moil::manual {
namespace {

// Roff reads backslashes anywhere, and dots and quotes at the beginning of a line. A hyphen that
// one types is \-.
std::string for_roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "moilctl speaks to moild." -> "speaks to moild": what the section NAME wants.
std::string whatis(const Command& program) {
  std::string text = program.help;
  if (text.starts_with(program.name + " ")) text.erase(0, program.name.size() + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void add_option_paragraphs(std::string& page, const std::vector<Option>& options) {
  for (const Option& option : options) {
    page += ".TP\n.B \"" + for_roff(names_and_value(option)) + "\"\n";
    page += for_roff(full_help(option)) + "\n";
  }
}

void add_commands(std::string& page, const Command& program) {
  if (program.commands.empty()) return;
  page += ".SH COMMANDS\n";
  for_each_command(program, program.name, [&](const Command& command, const std::string& path) {
    if (!command.commands.empty()) return;  // groups are known by what is below them
    page += ".SS " + for_roff(synopsis(command, path)) + "\n";
    page += for_roff(sentence(command.help)) + "\n";
    if (!command.example.empty()) page += "For example: " + for_roff(command.example) + "\n";
    add_option_paragraphs(page, command.positionals);
    std::vector<Option> own = command.options;
    std::erase_if(own, [](const Option& o) { return o.names.front() == "--help"; });
    add_option_paragraphs(page, own);
  });
}

void add_environment(std::string& page, const Command& program) {
  std::string rows;
  for (const Option& option : program.options) {
    if (option.environment.empty()) continue;
    rows += ".TP\n.B " + for_roff(option.environment) + "\nStands for " +
            for_roff(option.names.front()) + " where that is left out.\n";
  }
  if (!rows.empty()) page += ".SH ENVIRONMENT\n" + rows;
}

void add_see_also(std::string& page, const Command& program) {
  std::string list;
  for (const char* other : {"moilctl(1)", "moil-pretrain(1)", "moil-import(1)", "moil-export(1)",
                            "moil-plan(1)", "moil-review(1)", "moild(8)", "moil-worker(8)"}) {
    const std::string text = other;
    if (text.starts_with(program.name + "(")) continue;
    const auto bracket = text.find('(');
    list += (list.empty() ? "" : ",\n") + (".BR " + for_roff(text.substr(0, bracket))) + " " +
            text.substr(bracket);
  }
  // The comma belongs to the name before it.
  page += ".SH SEE ALSO\n" + list + "\n.PP\nThe user guide is in /usr/share/doc/moild.\n";
}

}  // namespace

std::string man_page(const Command& program, int section) {
  std::string page = ".TH " + upper(for_roff(program.name)) + " " + std::to_string(section) +
                     " \"\" \"moild " + kVersion + "\" \"moild\"\n";
  page += ".SH NAME\n" + program.name + " \\- " + for_roff(whatis(program)) + "\n";
  page += ".SH SYNOPSIS\n.nf\n" + for_roff(synopsis(program, program.name)) + "\n.fi\n";
  page += ".SH DESCRIPTION\n" + for_roff(sentence(program.help)) + "\n";
  page += ".SH OPTIONS\n";
  if (program.hands_down) page += "Every command takes these, too.\n";
  add_option_paragraphs(page, program.positionals);
  add_option_paragraphs(page, program.options);
  add_commands(page, program);
  add_environment(page, program);
  add_see_also(page, program);
  return page;
}

}  // namespace moil::manual
