#include "daemon/ctl/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace moil::daemon::ctl {
namespace {

constexpr int kBarCells = 24;

bool colour_wanted() {
  const char* no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Columns that the text fills: bytes of UTF-8 that begin a character.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
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

void Console::table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    print(line);
  }
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
