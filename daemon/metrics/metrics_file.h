// The metrics as a file for node_exporter's textfile collector, every minute. Replaced by a rename,
// so that a reader sees a whole one; not made durable, for the next minute brings another. Loop
// thread only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "daemon/loop/event_loop.h"
#include "daemon/loop/outside_calls.h"

namespace moil::daemon {

class MetricsFile {
 public:
  using Collect = std::function<void(std::function<void(std::string)>)>;

  // file: empty: nothing is written. The first one is written soon.
  MetricsFile(EventLoop& loop, OutsideCalls& outside, std::filesystem::path file, Collect collect);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

 private:
  void write_soon(std::chrono::milliseconds wait);
  void write();
  void put(const std::string& text);
  void failed(const std::string& why);

  EventLoop& loop_;
  OutsideCalls& outside_;
  const std::filesystem::path file_;
  const Collect collect_;
  EventLoop::TimerId timer_ = 0;
  std::string complaint_;  // that was logged last
};

}  // namespace moil::daemon
