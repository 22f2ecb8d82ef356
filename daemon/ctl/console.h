// The one owner of the terminal: data to stdout, progress to stderr. The bar is drawn only where
// stderr is a terminal and NO_COLOR, where set, keeps it plain; otherwise a line a change.
#pragma once

#include <string>
#include <vector>

namespace moil::daemon::ctl {

class Console {
 public:
  Console();
  ~Console();  // ends an open bar
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void print(const std::string& line);  // stdout
  void note(const std::string& line);   // stderr, above the bar
  // Columns wide enough for their cells; the first row is the heading.
  void table(const std::vector<std::vector<std::string>>& rows);
  // `text` beside a bar of `fraction` (0 to 1); without a terminal: the text, when it changed.
  void bar(double fraction, const std::string& heading, const std::string& text);
  void end_bar();

 private:
  const bool terminal_;
  const bool colour_;
  bool bar_is_open_ = false;
  std::string last_heading_;
};

}  // namespace moil::daemon::ctl
