#include "daemon/ctl/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr int kBarCells = 24;

bool colour_wanted() {
  const char* no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

// No columns: not known.
winsize size_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

std::size_t terminal_columns() {
  const winsize size = size_of(STDERR_FILENO);
  return size.ws_col == 0 ? 80 : size.ws_col;
}

// As the environment's character set has it, the first of these that is set.
bool utf8_wanted() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string text = value;
    return text.find("UTF-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

Console::Console()
    : terminal_(::isatty(STDERR_FILENO) == 1), colour_(terminal_ && colour_wanted()) {}

Console::~Console() { end_bar(); }

void Console::print(const std::string& line) {
  end_bar();
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void Console::note(const std::string& line) {
  end_bar();
  std::fputs((line + "\n").c_str(), stderr);
}

void Console::table(const Rows& rows) {
  const Screen shown_on = screen();
  const auto widths = column_widths(rows, shown_on.terminal ? shown_on.columns : 0);
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = shown_on.terminal ? shortened(row[i], widths[i]) : row[i];
      line += i + 1 < row.size() ? padded(text, widths[i]) + "  " : text;
    }
    print(line);
  }
}

std::optional<bool> Console::ask(const std::string& question) {
  if (!terminal_ || ::isatty(STDIN_FILENO) != 1) return std::nullopt;
  end_bar();
  std::fputs((question + " [y/N] ").c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

Screen Console::screen() {
  if (::isatty(STDOUT_FILENO) != 1) return {};
  const winsize size = size_of(STDOUT_FILENO);
  Screen screen{.terminal = true, .utf8 = utf8_wanted()};
  if (size.ws_col != 0) screen.columns = size.ws_col;
  if (size.ws_row != 0) screen.rows = size.ws_row;
  return screen;
}

void Console::bar(double fraction, const std::string& heading, const std::string& text) {
  if (!terminal_) {
    if (heading != last_heading_) note(heading + (text.empty() ? "" : "  " + text));
    last_heading_ = heading;
    return;
  }
  const int filled = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * kBarCells));
  std::string cells(static_cast<std::size_t>(filled), '#');
  cells.resize(kBarCells, '.');
  std::string line = heading + " [" + cells + "] " + text;
  const std::size_t columns = terminal_columns() - 1;
  if (line.size() > columns) line.resize(columns);
  if (colour_ && line.size() > heading.size()) {
    line = "\033[1m" + heading + "\033[0m" + line.substr(heading.size());
  }
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
  bar_is_open_ = true;
}

void Console::end_bar() {
  if (bar_is_open_) std::fputs("\n", stderr);
  bar_is_open_ = false;
}

}  // namespace moil::daemon::ctl
