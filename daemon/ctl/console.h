// The one owner of the terminal: data to stdout, progress to stderr. The bar is drawn only if
// stderr is a terminal and NO_COLOR, if set, keeps it plain; otherwise a line a change.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace moil::daemon::ctl {

// A table; its first row is the heading.
using Rows = std::vector<std::vector<std::string>>;

// What stdout is shown on.
struct Screen {
  bool terminal = false;  // the other members count only if it is one
  bool utf8 = false;
  std::size_t columns = 80, rows = 24;
};

class Console {
 public:
  Console();
  ~Console();  // ends an open bar
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void print(const std::string& line);  // stdout
  void note(const std::string& line);   // stderr, above the bar
  void table(const Rows& rows);         // columns wide enough for their cells
  // `text` beside a bar of `fraction` (0 to 1); without a terminal: the text, when it changed.
  void bar(double fraction, const std::string& heading, const std::string& text);
  void end_bar();
  // Whether a person says yes; nothing if there is nobody to ask.
  std::optional<bool> ask(const std::string& question);
  static Screen screen();

 private:
  const bool terminal_;
  const bool colour_;
  bool bar_is_open_ = false;
  std::string last_heading_;
};

}  // namespace moil::daemon::ctl
