// What another process writes to a pipe, as lines, each once and in order. A line longer than
// kMostLineBytes is skipped. Loop thread only.
#pragma once

#include <functional>
#include <string>

#include "daemon/loop/event_loop.h"

namespace moil::daemon {

class PipeLines {
 public:
  using OnLine = std::function<void(const std::string& line)>;

  PipeLines(EventLoop& loop, OnLine on_line) : loop_(loop), on_line_(std::move(on_line)) {}
  ~PipeLines();
  PipeLines(const PipeLines&) = delete;
  PipeLines& operator=(const PipeLines&) = delete;

  bool is_wanted() const { return static_cast<bool>(on_line_); }
  // The end to write to. kIo.
  UniqueFd open();
  // Has lines called back as they come.
  void watch();
  // Takes what is there already, and no more.
  void finish();

 private:
  enum class Output { kRead, kNoneYet, kEnded };
  Output read();
  void take_lines();

  EventLoop& loop_;
  OnLine on_line_;
  UniqueFd pipe_;
  std::string buffer_;
  bool skipping_ = false;  // the rest of a line that is too long
};

}  // namespace moil::daemon
